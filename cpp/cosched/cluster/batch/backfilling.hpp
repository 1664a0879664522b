// Batch scheduling: FCFS, EASY (Casanova, Stillwell, Vivien 2011, section 5.2) and conservative
// backfilling.
//
// FCFS pass: jobs start in order of the queue while they fit; the first that does not stops all
// that could use its nodes.
// EASY pass: the same; then the first that does not fit has a reservation (cells.hpp), and so has
// each later one that may use nodes which none ahead of it may.  The others start if they fit now
// and, for each reservation, either are expected to end by its shadow time or need no more than its
// extra nodes (which they use up).
//
// Conservative: every job gets a promise when it comes, the earliest start after all promises made
// (in order of the queue within one instant).  When a job ends before it was expected to, each job
// in order of the queue gives its slot back and takes the earliest one, which is never later
// (Mu'alem and Feitelson 2001); its nodes stay where its start does.  A run of 0 s is planned as
// 1 s, or nothing would hold its nodes.  Jobs that outlive their estimates are expected to end now:
// as long as there is one, all promises are made anew at each event, in order of the queue, and
// only then one can move back; a job whose time has come starts when its nodes are free.
//
// A job with an infinite estimate never ends as far as plans go: under EASY it is not in time for
// any shadow time, the infinite one included; conservative backfilling keeps it out of the nodes of
// every promise made before (kNoEnd).
//
// Requires that each job fits in the nodes it may use (InfeasibleError); requested estimates need
// Instance::has_estimates() (InvalidInstance).  events.hpp says what happens within an instant.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/model/decision_log.hpp"

namespace cosched::cluster::batch {

/// O(n log n).
Outcome fcfs(const Instance& instance, DecisionLog* log = nullptr);

/// O((n + r) W + n log n), r = instants with a completion, W = longest queue; an instant
/// with submissions only looks at the new jobs.
Outcome easy(const Instance& instance, Estimates estimates = Estimates::perfect,
             DecisionLog* log = nullptr);

enum class Rule { fcfs, easy, conservative };

/// Over cells and with another order of the queue.  FCFS and EASY: O(n (W log W + running log
/// running)); conservative: O(n (W log W + S)), S = steps of the plan, and O(W S) for each early
/// completion.
PlacedOutcome backfill(const Instance& instance, const Layout& layout, Rule rule,
                       const Order& order, Estimates estimates, DecisionLog* log = nullptr);

/// The same on nodes with memory and GPUs: a job waits until nodes have all that it needs, and has
/// a reservation from the first expected end on after which they are expected to; who starts before
/// it ends by then, or leaves it such nodes; a promise is on nodes that keep what the job needs
/// free.  O(n W nodes) at worst; conservative: O(W) for each early completion, O(S) for each job
/// that moves.
SiteOutcome backfill(const Instance& instance, const Site& site, Rule rule, const Order& order,
                     Estimates estimates, DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch
