// Whether "may preempt" leaves the queue an order (RULES.md 15.2).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// True where "a comes before b where it may preempt b, else by priority" is a strict weak order of
/// all jobs, whatever their priorities are.  It is one where "may preempt" itself is a strict weak
/// order of the QOS, or partitions, of the jobs, and where it never disagrees with the order behind
/// it: by PriorityTier, when no job has a reservation.
///
/// Example: QOS high may preempt low alone, and there is a QOS normal.  A job of high with the
/// least priority comes before low, low before normal, and normal before high: no order.
/// O(jobs + groups^3).
bool preemption_keeps_order(const Scenario& scenario);

}  // namespace cosched::slurm
