// Batch scheduling: FCFS and EASY backfilling (Casanova, Stillwell, Vivien 2011, section 5.2).
//
// A job takes |T_j| whole nodes for its run time.  Order within one instant: all
// completions, then all submissions in order, then one pass over the queue.  A job
// of run time 0 starts in one pass and completes in the next round of that instant.
//
// FCFS pass: start jobs from the head of the queue while they fit.
// EASY pass: the same; then the head that does not fit has a reservation at the
// *shadow* time, the earliest time when enough nodes are expected to be free.  All
// nodes expected to be free then, beyond the head's, are *extra*.  The other jobs, in
// queue order, start if they fit now and either are expected to end by the shadow
// time, or need no more than the extra nodes (which they use up).
//
// Requires tasks <= nodes for each job (InfeasibleError).
#pragma once

#include "cosched/cluster/model/decision_log.hpp"
#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/outcome.hpp"

namespace cosched::cluster::batch {

/// O(n log n).
Outcome fcfs(const Instance& instance, DecisionLog* log = nullptr);

enum class Estimates {
  perfect,    // expected end = end
  requested,  // expected end = start + estimate; a job that outlives it is expected to end now
};

/// Requested estimates need Instance::has_estimates() (InvalidInstance).
/// O((n + r) W + n log n), r = instants with a completion, W = longest queue; an instant
/// with submissions only looks at the new jobs.
Outcome easy(const Instance& instance, Estimates estimates = Estimates::perfect,
             DecisionLog* log = nullptr);

}  // namespace cosched::cluster::batch
