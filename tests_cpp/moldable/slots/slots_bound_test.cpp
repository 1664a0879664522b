#include "cosched/moldable/slots/slots_bound.hpp"

#include <gtest/gtest.h>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

// Every kind of profile, with and without releases, against complete enumeration.
TEST(TimeIndexed, IsNeverAboveTheOptimum) {
  double sum = 0;
  int counted = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const int n = static_cast<int>(rng.between(1, seed % 20 == 0 ? 4 : 3));
    const int m = static_cast<int>(rng.between(1, 3)),
              kind = static_cast<int>(seed % kProfileKinds);
    const Instance instance = small_instance(kind, n, m, seed, seed % 4 >= 2);
    SHOW_ON_FAILURE(instance);
    const Optima optima = exhaustive_optima(instance);
    slots::TimeIndexedOptions options;
    options.cells = 1 + static_cast<int>(rng.below(5));
    options.work = 30'000;
    const double horizon = optima.makespan * (0.3 + 1.2 * rng.uniform());
    const double bound =
        slots::time_indexed_bound(instance, optima.minsum * 1.01, horizon, options).value;
    ASSERT_LE(bound, optima.minsum * (1 + kRounding)) << seed;
    if (optima.minsum > 0 && options.cells > 2 && horizon >= optima.makespan) {
      sum += bound / optima.minsum;
      ++counted;
    }
  }
  EXPECT_GT(sum / counted, 0.9);
}

// Every kind of profile, with and without releases, against complete enumeration.
TEST(SlotsBound, IsNeverAboveTheOptimum) {
  int closed = 0, open = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const int n = static_cast<int>(rng.between(1, seed % 20 == 0 ? 4 : 3));
    const int m = static_cast<int>(rng.between(1, 3)),
              kind = static_cast<int>(seed % kProfileKinds);
    const Instance instance = small_instance(kind, n, m, seed, seed % 4 >= 2);
    SHOW_ON_FAILURE(instance);
    const double optimum = exhaustive_optima(instance).makespan;
    const double lower = bounds::window_bound(instance);
    slots::SlotsOptions options;
    options.cells = 4 + static_cast<int>(rng.below(40));
    options.rounds = 20;
    const bounds::BoundResult bound = slots::slots_bound(instance, lower, 1.2 * optimum, options);
    ASSERT_LE(bound.value, optimum * (1 + kRounding)) << seed;
    ASSERT_GE(bound.value, lower);
    if (lower > 0.99 * optimum) continue;
    (bound.value > 0.99 * optimum ? closed : open) += 1;
  }
  EXPECT_GT(closed, open / 4);
}

TEST(SlotsBound, ClosesGapsOfTheDualApproximationAndStopsInTime) {
  double before = 0, after = 0;
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne})
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      SHOW_ON_FAILURE(seed);
      const Instance instance = workload(kind, 8, 8, seed);
      SHOW_ON_FAILURE(instance);
      const bounds::BoundResult bound = slots::slots_bound(instance);
      EXPECT_TRUE(bound.complete);
      const search::SearchResult result = search::local_search(instance, {});
      EXPECT_LE(bound.value, makespan(result.placement));
      before += makespan(result.placement) / dual::dual_approximation_bound(instance, 1e-3) - 1;
      after += makespan(result.placement) / bound.value - 1;
    }
  EXPECT_LT(after, 0.7 * before);
  const Instance instance = workload(Kind::mixed, 12, 16, 1);
  SHOW_ON_FAILURE(instance);
  const ScopedTimeLimit limit(0.05);
  const bounds::BoundResult stopped = slots::slots_bound(instance, 0.1, 1e9);
  EXPECT_FALSE(stopped.complete);
  EXPECT_GE(stopped.value, 0.1);
}

TEST(TimeIndexed, IsBetterThanThePapersAndStopsInTime) {
  for (const Kind kind : {Kind::weak, Kind::high, Kind::mixed, Kind::cirne})
    for (const int n : {8, 30}) {
      const Instance instance = workload(kind, n, 16, n);
      SHOW_ON_FAILURE(instance);
      minsum::MinsumOptions options;
      options.refine = 8;
      const bounds::BoundResult bound = slots::time_indexed_bound(instance);
      EXPECT_TRUE(bound.complete);
      EXPECT_GT(bound.value, minsum::bound(instance, options));
      const ScopedTimeLimit limit(0.0);
      const bounds::BoundResult stopped = slots::time_indexed_bound(instance);
      EXPECT_FALSE(stopped.complete);
      EXPECT_LE(stopped.value, bound.value);
    }
}

TEST(TimeIndexed, NoWeightNoBound) {
  EXPECT_EQ(slots::time_indexed_bound(Instance(Times(Table(3, 2, 1.0)), {0, 0, 0})).value, 0);
}

TEST(TimeIndexed, TimesWithoutNumbersBelowThem) {
  for (const double time : {5e-324, 1e-310, 1e-300}) {
    const Instance instance(Times(Table(2, 3, time)), {1, 1});
    EXPECT_LE(slots::time_indexed_bound(instance).value, 2 * time);
    EXPECT_LE(slots::slots_bound(instance).value, time);
  }
}

}  // namespace
}  // namespace cosched::moldable
