// A greedy schedule for minsum that weighs each job's own completion against the delay of all later
// ones.  The package's own; demt-best starts from it.
#pragma once

#include <vector>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// Jobs by decreasing w_i / min_q q t_i(q): Smith's order of areas.
std::vector<int> by_density(const Instance& instance);

/// Jobs by increasing min_q q t_i(q).
std::vector<int> by_least_work(const Instance& instance);

/// In the given order, each job is appended on the q processors that are idle first, from a(q),
/// with q such that
///   w_i (a(q) + t_i(q)) + factor R q t_i(q) / m
/// is least, R = the weight of the jobs after it: its own weighted completion, and what its area
/// costs all others if they are delayed by area / m.  Large factors save area, small ones time.
/// All q up to 20 are tried, then steps of 5%.  No release dates; factor >= 0.
/// O(n (log m + log n)) and the idle times looked through.
Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor);

}  // namespace cosched::moldable::list
