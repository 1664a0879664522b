#include "cosched/moldable/search/window_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/search/proof.hpp"
#include "support/moldable_exhaustive_minsum.hpp"
#include "support/moldable_instances.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

Placement one_after_the_other(const Instance& instance) {
  Placement made = unplaced(instance.jobs());
  double now = 0;
  for (int job = 0; job < instance.jobs(); ++job) {
    now = std::max(now, instance.release(job));
    place(instance, made, job, instance.fewest(job), now);
    now = made.end[job];
  }
  return made;
}

// Few labels, so that windows are cut again and again.
TEST(MoldableWindowSearch, EqualsExhaustiveSearch) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(2, 5)), m = static_cast<int>(rng.between(2, 3));
      const Instance instance = small_instance(kind, n, m, seed, seed % 2 == 1);
      const auto choices = choices_of(instance);
      const double optimum = exhaustive_optima(instance).minsum;
      for (const std::size_t width : {1, 3}) {
        Incumbent best(instance, Objective::minsum, one_after_the_other(instance));
        Effort effort(40'000'000);
        WindowSearch search(instance, choices, 0, best, effort, width);
        double last = 0;
        while (!search.run(100'000)) {
          ASSERT_FALSE(effort.over()) << kind << " " << seed;
          EXPECT_LE(search.bound(), optimum * (1 + kRounding)) << kind << " " << seed;
          EXPECT_GE(search.bound(), last * (1 - kRounding));
          last = search.bound();
        }
        require_valid(instance, best.placement());
        EXPECT_NEAR(best.value(), optimum, kRounding * optimum) << kind << " " << seed;
        EXPECT_NEAR(search.bound(), optimum, kRounding * optimum) << kind << " " << seed;
      }
    }
}

// Prices of windows: nothing within them is better.  Labels: where the windows hold an optimal
// schedule one is found (where they do not, labels may leave out what is better a little later, out
// of its window).
TEST(MoldableWindowSearch, BoundsWhatKeepsWindows) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Instance instance = small_instance(kind, 4, 3, seed, seed % 2 == 1);
      const auto choices = choices_of(instance);
      const Placement known = one_after_the_other(instance);
      const StartWindows all(instance);
      const double value = weighted_completion(instance, known);
      TimePrices wider(instance, choices, all, value, makespan(known), 200'000, 1);
      StartWindows windows(instance);
      Rng rng(seed);
      const Placement optimal_one = optimal(instance, {Objective::minsum, 4'000'000}).placement;
      const bool around = seed % 4 < 2;  // an optimal schedule
      for (int job = 0; job < 4; ++job) {
        const double start = optimal_one.start[job];
        const double before = around ? start - windows.first[job] : makespan(known) / 4;
        if (rng.below(2) == 0) windows.first[job] += rng.uniform() * std::max(0.0, before);
        if (rng.below(2) == 0)
          windows.last[job] = (around ? (1 + kRounding) * start : windows.first[job]) +
                              rng.uniform() * makespan(known) / 3;
      }
      const double least = exhaustive_within(instance, choices, windows, 15, {0, 0, 0});
      TimePrices prices(wider, windows, value, 20, 1'000'000);
      EXPECT_LE(prices.bound(), least * (1 + kRounding)) << kind << " " << seed;
      const Step free{0, 3};
      for (const double enough : {0.0, least, kInfinity})
        EXPECT_LE(prices.least(15, &free, 1, enough), least * (1 + kRounding))
            << kind << " " << seed;
      Incumbent best(instance, Objective::minsum, known);
      Effort effort(10'000'000);
      LabelBounds bounds(instance, choices, windows, prices, best, effort);
      Labels labels(instance, choices, windows, Objective::minsum, best, bounds, effort);
      ASSERT_TRUE(labels.pass(1'000'000));
      if (around) {
        EXPECT_LE(best.value(), least * (1 + kRounding)) << kind << " " << seed;
      }
    }
}

}  // namespace
}  // namespace cosched::moldable::search
