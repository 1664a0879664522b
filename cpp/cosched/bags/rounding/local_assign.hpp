// Algorithm B (Li et al. 2016, section III-C): from counts on machine types to a plan.
#pragma once

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::rounding {

/// Water level AL: sum over S of (AL - L_k) = work, S = machines with L_k < AL.
///
/// The paper takes the mean over all machines, which is not LPT when some L_k exceeds it: loads
/// (10, 0, 0) and four tasks of length 1 would give (10, 4, 0) instead of (10, 2, 2).
/// Requires loads nonempty, work >= 0.  O(machines) a round of dropped machines, few in practice.
double water_level(const std::vector<double>& loads, double work);

/// LPT of `count` tasks of `length` seconds on machines with these loads (added to), without
/// placing them one by one: machine k takes floor((AL - L_k)/length) at once, the few that are
/// left go to the least loaded machine each; ties: the lowest.  Returns the tasks of each machine.
///
/// LPT gives the tasks to the `count` earliest slots (L_k + t length, k), t = 0, 1, ...; what is
/// taken at once is a prefix of that order, so the result is LPT's.  O(machines log machines).
std::vector<std::int64_t> spread_by_lpt(std::vector<double>& loads, std::int64_t count,
                                        double length);

/// Task types in order of falling ETC on machine type j; ties: the lowest.
std::vector<int> order_by_longest(const Instance& instance, int j);

/// Loads of machine type j after Algorithm B: types in order of falling ETC (ties: the lowest).
/// `column` = tasks of each type on j.  `visit(i, tasks of each machine)`, where given, is called
/// for each type in that order.  O(T log T + T M_j log M_j), whatever the number of tasks.
template <class Visit>
std::vector<double> assign_locally(const Instance& instance, int j,
                                   const std::vector<std::int64_t>& column, Visit visit) {
  std::vector<double> loads(instance.machines(j), 0);
  for (const int i : order_by_longest(instance, j))
    if (column[i] > 0) visit(i, spread_by_lpt(loads, column[i], instance.etc(i, j)));
  return loads;
}

/// The plan of Algorithm B for these counts.  Throws InvalidInstance where counts do not fit: wrong
/// shape, negative, a closed pair, a row that does not sum to T_i.
/// O(sum_j (T log T + T M_j log M_j)).
BagPlan make_plan(const Instance& instance, const Counts& counts);

/// profit_rate of make_plan(instance, counts), without building it.  Counts are not checked.
double profit_rate_of(const Instance& instance, const Counts& counts);

}  // namespace cosched::bags::rounding
