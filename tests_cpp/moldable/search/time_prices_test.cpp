#include "cosched/moldable/search/time_prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "support/moldable_exhaustive_minsum.hpp"
#include "support/moldable_instances.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(MoldableTimePrices, AreBelowEverySchedule) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Instance instance = small_instance(kind, 4, 3, seed, seed % 2 == 1);
      const auto choices = choices_of(instance);
      const StartWindows windows(instance);
      const double all = exhaustive_within(instance, choices, windows, 15, {0, 0, 0});
      for (const double stretch : {0.3, 1.0, 4.0}) {
        TimePrices prices(instance, choices, windows, all, stretch * 3, 1'000'000);
        EXPECT_LE(prices.bound(), all) << kind << " " << seed;
        Rng rng(seed);
        for (int draw = 0; draw < 10; ++draw) {
          const auto rest = static_cast<JobSet>(rng.between(1, 15));
          std::vector<double> free(3);
          for (double& time : free) time = 5 * rng.uniform();
          std::sort(free.begin(), free.end());
          const Step steps[] = {{free[0], 1}, {free[1], 1}, {free[2], 1}};
          const double least = exhaustive_within(instance, choices, windows, rest, free);
          for (const double enough : {0.0, 0.9 * least, least, kInfinity})
            EXPECT_LE(prices.least(rest, steps, 3, enough), least * (1 + kRounding))
                << kind << " " << seed << " " << rest;
        }
      }
    }
}

// Whether a bound is enough is decided exactly, whatever lies within a cell.
TEST(MoldableTimePrices, AreExactWhereThatDecides) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Instance instance =
        small_instance(static_cast<int>(seed) % kProfileKinds, 4, 3, seed, false);
    const auto choices = choices_of(instance);
    const StartWindows windows(instance);
    TimePrices prices(instance, choices, windows,
                      exhaustive_within(instance, choices, windows, 15, {0, 0, 0}), 5, 1'000'000);
    const Step steps[] = {{0.31, 2}, {0.87, 1}};
    const double low = prices.least(15, steps, 2, 0);
    double below = low, above = 2 * low;  // of what is enough
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (below + above) / 2;
      (prices.least(15, steps, 2, middle) >= middle ? below : above) = middle;
    }
    EXPECT_GE(prices.least(15, steps, 2, below), below);
    EXPECT_NEAR(prices.least(15, steps, 2, below * (1 + 1e-9)), below, 1e-6 * below);
  }
}

// One processor, unit jobs of one weight: time prices know the optimum, 1 + 2 + 3 + 4.
TEST(MoldableTimePrices, AreExactForUnitJobsOneByOne) {
  const Instance instance(Times(Table(4, 1, 1.0)), {1, 1, 1, 1});
  const auto choices = choices_of(instance);
  const StartWindows windows(instance);
  TimePrices prices(instance, choices, windows, 10, 4, 20'000'000);
  EXPECT_NEAR(prices.bound(), 10, 0.2);
}

}  // namespace
}  // namespace cosched::moldable::search
