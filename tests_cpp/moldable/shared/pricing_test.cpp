#include "cosched/moldable/shared/pricing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/bounds/areas.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::shared {
namespace {

Instance drawn(std::uint64_t seed) {
  Rng rng(seed);
  const int jobs = 5, machines = 4;
  Table times(jobs, machines);
  // One in four needs as much on all counts; slow-downs are small, or worse than one after the
  // other.
  const bool same = seed % 4 == 3;
  const double slow = seed % 5 == 0 ? 3 : 0.8;
  Matrix<double> table(jobs, jobs), needs(jobs, same ? 1 : machines), demand(jobs, machines);
  for (int i = 0; i < jobs; ++i) {
    const double work = 1 + 9 * rng.uniform(), serial = 0.4 * rng.uniform();
    for (int q = 1; q <= needs.cols(); ++q) needs(i, q - 1) = 1 + 4 * rng.uniform();
    const double traffic = 0.5 + rng.uniform();
    for (int q = 1; q <= machines; ++q) {
      times(i, q - 1) = work * (serial + (1 - serial) / q);
      demand(i, q - 1) = std::min(traffic * q, 3.0);
    }
    for (int j = 0; j < jobs; ++j) table(i, j) = 1 + slow * rng.uniform();
  }
  const auto rule = static_cast<SlowdownRule>(seed % 3);
  std::optional<Bandwidth> bandwidth;
  if (seed % 2 == 0)
    bandwidth = Bandwidth{.demand = demand, .capacity = 3, .stall = {0, 0.3, 0.7, 1, 0.5}};
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_sharing(std::make_shared<const Sharing>(
          jobs, std::vector<Resource>{{.name = "memory", .capacity = 8, .need = needs}},
          Slowdowns{.table = table, .rule = rule}, bandwidth));
}

// The most that any set with any counts is worth.
double most_worth(const Instance& instance, const std::vector<double>& prices, int job,
                  std::vector<RunningTask> set, int free) {
  if (job == instance.jobs()) {
    const std::vector<double> factors = instance.sharing()->factors(set);
    double worth = 0;
    for (std::size_t k = 0; k < set.size(); ++k)
      worth += prices[set[k].task] / (set[k].alone * factors[k]);
    return worth;
  }
  double best_worth = most_worth(instance, prices, job + 1, set, free);
  for (int q = 1; q <= free; ++q) {
    std::vector<RunningTask> with = set;
    with.push_back({job, q, instance.exact_time(job, q)});
    if (instance.sharing()->fits(with))
      best_worth = std::max(best_worth, most_worth(instance, prices, job + 1, with, free - q));
  }
  return best_worth;
}

TEST(Pricing, FindsTheSetOfMostWorth) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = drawn(seed);
    SHOW_ON_FAILURE(instance);
    const bounds::ResourceRows rows(instance);
    ConfigurationPricing pricing(instance, rows, maximize_area(rows, {0, 1, 2, 3, 4}).prices);
    Rng rng(seed + 1000);
    std::vector<double> prices;
    for (int i = 0; i < 5; ++i) prices.push_back(0.5 + rng.uniform());
    const double best_worth = most_worth(instance, prices, 0, {}, instance.machines());
    std::int64_t steps = 0;
    const auto answer = pricing.find_best(prices, 0, 1'000'000, steps);
    EXPECT_TRUE(answer.is_complete);
    EXPECT_GE(answer.value_bound, best_worth * (1 - 1e-12)) << seed;
    EXPECT_LE(answer.value_bound, best_worth * (1 + kPricingGap)) << seed;
    // Ended by its steps: less sharp, but a bound.
    std::int64_t small_work = 0;
    EXPECT_GE(pricing.find_best(prices, 0, 10, small_work).value_bound, best_worth * (1 - 1e-12))
        << seed;
  }
}

}  // namespace
}  // namespace cosched::moldable::shared
