// Lower bounds on the makespan of jobs that share the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::shared {

/// As area_bound, with a row a resource, and one of traffic:
///
///   minimise C : sum_iq x_iq q t_i(q) <= m C,  sum x_iq a_ir(q) t_i(q) <= A_r C,  sum_q x_iq = 1
///
/// and sum over jobs with stall 1 of x b t <= B C (together they never finish more than B a second).  Valid because
/// every factor is >= 1.  By prices of the rows, which are a game; for each release the jobs from then on.
double area_bound(const Instance& instance);

struct ConfigurationBound {
  double value = 0;
  bool complete = true;  // false: a time limit, or the work, ended it with what was proved
};

/// Every schedule is a mix of configurations c, sets of jobs with counts that fit and run for x_c seconds:
///
///   minimise sum_c x_c  subject to  sum_{c holds i} x_c / (t_i(q_i) f_i(c)) >= 1 for every job i    (price u_i >= 0)
///
/// by column generation.  Pricing, max over c of sum u_i / (t_i f_i(c)), is a knapsack with interaction: best first over
/// jobs, where a node's bound takes the rest by their best rates beside the jobs that it has, as a fractional knapsack
/// of processors, and of the resources at the prices of area_bound.  All u divided by the greatest bound of what was
/// not looked at are feasible for the dual, so every round gives a bound.  For instances that share nothing, too.
/// Throws as check_interrupt() only where it has nothing; `work` counts nodes.
ConfigurationBound configuration_bound(const Instance& instance, std::int64_t work = 600'000);

/// The prices of jobs that so much work proves most by, in seconds; empty where it proves nothing.
std::vector<double> configuration_prices(const Instance& instance, std::int64_t work);

}  // namespace cosched::moldable::shared
