// Batch scheduling with a plan: conservative backfilling.
//
// Every job gets a promise when it comes: the earliest start after all promises made (in order of
// the queue within one instant).  When a job ends before it was expected to, each job in order of
// the queue gives its slot back and takes the earliest one, which is never later (Mu'alem and
// Feitelson 2001); its nodes stay where its start does.  A run of 0 s is planned as 1 s, or nothing
// would hold its nodes.  Jobs that outlive their estimates are expected to end now: as long as
// there is one, all promises are made anew at each event, in order of the queue, and only then one
// can move back; a job whose time has come starts when its nodes are free.
//
// Requires that each job fits in the cells it may use (InfeasibleError); requested estimates need
// Instance::has_estimates() (InvalidInstance).  events.hpp says what happens within an instant.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/batch/site.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// O(n (W log W + S)), W = longest queue, S = steps of the plan; O(W S) for each early completion.
PlacedOutcome conservative(const Instance& instance, const Layout& layout, const Order& order,
                           Estimates estimates, DecisionLog* log = nullptr);

/// The same on nodes with memory and GPUs; a promise is on nodes that keep what the job needs free.
/// O(W) for each early completion, and O(S) for each job that moves.
SiteOutcome conservative(const Instance& instance, const Site& site, const Order& order,
                         Estimates estimates, DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch
