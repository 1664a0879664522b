#include "cosched/moldable/search/time_prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/search/fastest_choices.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

using Choices = std::vector<std::vector<Choice>>;

// The least sum w C of the jobs of `rest` in every order on every count, each as early as the one
// before it, its release and processors that become free at these times let it.
double exhaustive_minsum(const Instance& instance, const Choices& choices, JobSet rest,
                         const std::vector<double>& free) {
  if (rest == 0) return 0;
  double best = kInfinity;
  for (int job = 0; job < instance.jobs(); ++job)
    if (rest >> job & 1)
      for (const Choice& choice : choices[job]) {
        std::vector<double> later = free;
        const double start = std::max(instance.release(job), later[choice.procs - 1]);
        const double end = start + choice.time;
        for (double& time : later) time = std::max(time, start);
        std::fill_n(later.begin(), choice.procs, end);
        std::sort(later.begin(), later.end());
        const JobSet others = rest & ~(JobSet{1} << job);
        best = std::min(
            best, instance.weight(job) * end + exhaustive_minsum(instance, choices, others, later));
      }
  return best;
}

TimePrices climbed(const Instance& instance, const Choices& choices, double value, double makespan,
                   std::int64_t work) {
  TimePrices prices(instance, choices, makespan, 32, TimePrices::JobCosts::weighted_completion);
  prices.subgradient_ascent(value, work, 3);
  return prices;
}

TEST(MoldableTimePrices, AreBelowEverySchedule) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance = small_instance(kind, 4, 3, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      const auto choices = fastest_choices(instance);
      const double all = exhaustive_minsum(instance, choices, 15, {0, 0, 0});
      for (const double stretch : {0.3, 1.0, 4.0}) {
        TimePrices prices = climbed(instance, choices, all, stretch * 3, 250'000);
        EXPECT_LE(prices.bound(), all) << kind << " " << seed;
        Rng rng(seed);
        for (int draw = 0; draw < 10; ++draw) {
          SHOW_ON_FAILURE(draw);
          const auto rest = static_cast<JobSet>(rng.between(1, 15));
          std::vector<double> free(3);
          for (double& time : free) time = 5 * rng.uniform();
          std::sort(free.begin(), free.end());
          const FreeStep steps[] = {{free[0], 1}, {free[1], 1}, {free[2], 1}};
          const double least_minsum = exhaustive_minsum(instance, choices, rest, free);
          for (const double enough : {0.0, 0.9 * least_minsum, least_minsum, kInfinity})
            EXPECT_LE(prices.lower_bound(rest, steps, enough), least_minsum * (1 + kRounding))
                << kind << " " << seed << " " << rest;
        }
      }
    }
}

// Whether a bound is enough is decided exactly, whatever lies within a cell.
TEST(MoldableTimePrices, AreExactWhereThatDecides) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        small_instance(static_cast<int>(seed) % kProfileKinds, 4, 3, seed, false);
    const auto choices = fastest_choices(instance);
    TimePrices prices =
        climbed(instance, choices, exhaustive_minsum(instance, choices, 15, {0, 0, 0}), 5, 250'000);
    const FreeStep steps[] = {{0.31, 2}, {0.87, 1}};
    const double low = prices.lower_bound(15, steps, 0);
    double below = low, above = 2 * low;  // of what is enough
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (below + above) / 2;
      (prices.lower_bound(15, steps, middle) >= middle ? below : above) = middle;
    }
    EXPECT_GE(prices.lower_bound(15, steps, below), below);
    EXPECT_NEAR(prices.lower_bound(15, steps, below * (1 + 1e-9)), below, 1e-6 * below);
  }
}

// At any prices, not only at those of the methods.
TEST(MoldableTimePrices, BoundAtAnyPrices) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const int kind = static_cast<int>(seed % kProfileKinds);
    const Instance instance = small_instance(kind, 3, 3, seed, seed % 2 == 1);
    SHOW_ON_FAILURE(instance);
    const auto choices = fastest_choices(instance);
    const Optima optima = exhaustive_optima(instance);
    std::vector<double> measured_time(rng.between(1, 8));
    for (double& price : measured_time) price = rng.below(2) == 0 ? 0 : 6 * rng.uniform();
    TimePrices ends(instance, choices, optima.makespan * (0.3 + 1.2 * rng.uniform()), 1,
                    TimePrices::JobCosts::weighted_completion);
    ends.set_prices(measured_time);
    ASSERT_LE(ends.evaluate(), optima.minsum * (1 + kRounding)) << seed;
    TimePrices deadline(instance, choices, optima.makespan * (1 + kRounding), 1,
                        TimePrices::JobCosts::deadline);
    deadline.set_prices(measured_time);
    ASSERT_LE(deadline.evaluate(), 0) << seed;
  }
}

// One processor, unit jobs of one weight: time prices know the optimum, 1 + 2 + 3 + 4.
TEST(MoldableTimePrices, AreExactForUnitJobsOneByOne) {
  const Instance instance(Times(Table(4, 1, 1.0)), {1, 1, 1, 1});
  const auto choices = fastest_choices(instance);
  EXPECT_NEAR(climbed(instance, choices, 10, 4, 5'000'000).bound(), 10, 0.2);
}

}  // namespace
}  // namespace cosched::moldable::search
