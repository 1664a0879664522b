// Batch scheduling: FCFS and EASY backfilling (Casanova, Stillwell, Vivien 2011, section 5.2).
//
// FCFS pass: jobs start in order of the queue while they fit; the first that does not stops all
// that could use its nodes.
// EASY pass: the same; then the first that does not fit has a reservation (cells.hpp), and so has
// each later one that may use nodes which none ahead of it may.  The others start if they fit now
// and, for each reservation, either are expected to end by its shadow time or need no more than its
// extra nodes (which they use up).
//
// Requires that each job fits in the nodes it may use (InfeasibleError); requested estimates need
// Instance::has_estimates() (InvalidInstance).  events.hpp says what happens within an instant.
#pragma once

#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/options.hpp"
#include "cosched/cluster/batch/site.hpp"
#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// O(n log n).
Outcome fcfs(const Instance& instance, DecisionLog* log = nullptr);

/// O((n + r) W + n log n), r = instants with a completion, W = longest queue; an instant
/// with submissions only looks at the new jobs.
Outcome easy(const Instance& instance, Estimates estimates = Estimates::perfect,
             DecisionLog* log = nullptr);

enum class Rule { fcfs, easy, conservative };  // conservative.hpp

/// Over cells and with another order of the queue.  FCFS and EASY: O(n (W log W + running log
/// running)).
PlacedOutcome backfill(const Instance& instance, const Layout& layout, Rule rule,
                       const Order& order, Estimates estimates, DecisionLog* log = nullptr);

/// The same on nodes with memory and GPUs: a job waits until nodes have all that it needs, and has
/// a reservation from the first expected end on after which they are expected to; who starts before
/// it ends by then, or leaves it such nodes.  O(n W nodes) at worst.
SiteOutcome backfill(const Instance& instance, const Site& site, Rule rule, const Order& order,
                     Estimates estimates, DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch
