// A lower bound on the makespan of jobs that share the machine, by mixes of configurations.
#pragma once

#include <cstdint>

#include "cosched/moldable/bounds/makespan.hpp"

namespace cosched::moldable::shared {

struct ConfigurationParams {
  /// The weight of the last prices in smoothed ones.
  double price_smoothing = 0.7;
  /// Steps of the first pricing; those of later ones grow where they find no column.
  std::int64_t first_pricing_steps = 100'000;
  /// Rounds without a lower objective after which it ends: only rounding errors still move.
  int max_idle_rounds = 1000;
  /// The annealing that gives the first columns: operations in all, or of each job, and
  /// temperatures.
  std::int64_t annealing_operations = 4'000'000, annealing_operations_per_job = 50'000;
  double first_temperature = 0.01, last_temperature = 0.001;
  /// Steps of configuration_bound().
  std::int64_t bound_work = 100'000'000;
};

/// Every schedule is a mix of configurations c, sets of jobs with counts that fit and run for x_c
/// seconds:
///
///   minimise sum_c x_c  subject to  sum_{c holds i} x_c / (t_i(q_i) f_i(c)) >= 1 for every job i
///    (price u_i >= 0)
///
/// by column generation, which begins with the configurations of a short annealing.  Prices are
/// smoothed, and a pricing (pricing.hpp) takes more steps only where one with fewer finds no column
/// at the prices of the master.  Prices divided by a bound on the worth of all configurations are
/// feasible for the dual, so every round gives a bound, whether its pricing was complete or not.
///
/// Also for instances that share nothing.  A time limit leaves the bound that was proved until
/// then; the work is fixed, in steps of knapsacks.
bounds::BoundResult configuration_bound(const Instance& instance);

/// The prices of jobs, in seconds, that prove the best bound within `work` steps; empty where no
/// bound is proved.
std::vector<double> configuration_prices(const Instance& instance, std::int64_t work);

}  // namespace cosched::moldable::shared
