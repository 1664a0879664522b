// A lower bound on the makespan of jobs that share the machine: mixes of configurations.
#pragma once

#include <cstdint>

#include "cosched/moldable/bounds/makespan.hpp"

namespace cosched::moldable::shared {

/// Every schedule is a mix of configurations c, sets of jobs with counts that fit and run for x_c
/// seconds:
///
///   minimise sum_c x_c  subject to  sum_{c holds i} x_c / (t_i(q_i) f_i(c)) >= 1 for every job i
///    (price u_i >= 0)
///
/// by column generation, which begins with the mix of a quick schedule; prices are smoothed, and a
/// pricing (pricing.hpp) takes more steps only where one with fewer finds no column at the
/// programme's own prices.  All u divided by a bound on what any configuration is worth are
/// feasible for the dual, so every round gives a bound, whether its pricing was complete or not.
/// For instances that share nothing, too.
/// Throws as check_interrupt() only where it has nothing; its work is fixed: steps of knapsacks.
bounds::BoundResult configuration_bound(const Instance& instance);

/// The prices of jobs that so much work proves most by, in seconds; empty where it proves nothing.
std::vector<double> configuration_prices(const Instance& instance, std::int64_t work);

}  // namespace cosched::moldable::shared
