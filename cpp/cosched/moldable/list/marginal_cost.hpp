// A greedy schedule for the minsum that weighs each job's own completion against the delay of all
// later ones.  The package's own; demt-best starts from it.
#pragma once

#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// Appends each job, in the given order, on the q processors that are idle first, from a(q) on,
/// with the q for which
///   w_i (a(q) + t_i(q)) + factor R q t_i(q) / m
/// is least, R = the weight of the jobs after it: its own weighted completion, and what its area
/// costs all later jobs if they are delayed by area / m.  Large factors save area, small ones time.
///
/// Tries all q up to 20, then steps of 5%.  Requires no release dates and factor >= 0.
/// O(n (log m + log n)) and the idle times looked through.
Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor);

}  // namespace cosched::moldable::list
