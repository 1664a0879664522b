#include "cosched/moldable/search/optimal.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

double value_of(const Instance& instance, const Placement& placement, Objective objective) {
  const Criteria all = evaluate_criteria(instance, placement);
  return objective == Objective::makespan ? all.makespan : all.minsum;
}

constexpr Objective kBoth[] = {Objective::makespan, Objective::minsum};

TEST(MoldableOptimal, EqualsExhaustiveSearch) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SHOW_ON_FAILURE(kind);
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(1, 5)),
                m = static_cast<int>(rng.between(1, n == 5 ? 3 : 4));
      const Instance instance = small_instance(kind, n, m, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      const Optima optima = exhaustive_optima(instance);
      for (const Objective objective : kBoth) {
        const ProofResult result = optimal(instance, {objective, 4'000'000});
        require_valid(instance, result.placement);
        const double optimum = objective == Objective::makespan ? optima.makespan : optima.minsum;
        EXPECT_TRUE(result.is_proved);
        EXPECT_NEAR(value_of(instance, result.placement, objective), optimum, kRounding * optimum)
            << kind << " " << seed;
        EXPECT_NEAR(result.bound, optimum, kRounding * optimum) << kind << " " << seed;
      }
    }
}

// Equal jobs are tried in one order only, and every third has a release.
TEST(MoldableOptimal, EqualsExhaustiveSearchWhereJobsAreEqual) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const int n = static_cast<int>(rng.between(3, 5)), m = static_cast<int>(rng.between(2, 3));
    Table times(n, m);
    std::vector<double> weights, release;
    for (int i = 0; i < n; ++i) {
      const auto kind = static_cast<double>(rng.below(2));
      for (int q = 1; q <= m; ++q) times(i, q - 1) = (3 + 2 * kind) / q + kind;
      weights.push_back(1 + kind);
      release.push_back(seed % 3 == 0 ? static_cast<double>(rng.below(2)) : 0);
    }
    const Instance instance(Times(times), weights, release);
    SHOW_ON_FAILURE(instance);
    const Optima optima = exhaustive_optima(instance);
    for (const Objective objective : kBoth) {
      const ProofResult result = optimal(instance, {objective, 4'000'000});
      const double optimum = objective == Objective::makespan ? optima.makespan : optima.minsum;
      EXPECT_TRUE(result.is_proved);
      EXPECT_NEAR(value_of(instance, result.placement, objective), optimum, kRounding * optimum);
      EXPECT_NEAR(result.bound, optimum, kRounding * optimum) << seed;
    }
  }
}

TEST(MoldableOptimal, WithLittleWorkStillBoundsTheOptimum) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance = small_instance(kind, 7, 4, seed, seed % 2 == 1);
      SHOW_ON_FAILURE(instance);
      for (const Objective objective : kBoth) {
        const ProofResult all = optimal(instance, {objective});
        ASSERT_TRUE(all.is_proved);
        const double optimum = value_of(instance, all.placement, objective);
        double last = 0;
        for (const std::int64_t work : {0, 30, 300, 3'000, 30'000}) {
          const ProofResult partial_proof = optimal(instance, {objective, work});
          EXPECT_LE(partial_proof.bound, optimum * (1 + kRounding));
          EXPECT_GE(value_of(instance, partial_proof.placement, objective),
                    optimum * (1 - kRounding));
          EXPECT_GE(partial_proof.bound, last * (1 - kRounding));
          last = partial_proof.bound;
        }
      }
    }
}

TEST(MoldableOptimal, RefusesMoreJobsThanASetHolds) {
  const Instance instance = small_instance(0, kMostProvedJobs + 1, 2, 0, false);
  SHOW_ON_FAILURE(instance);
  EXPECT_THROW(optimal(instance), InvalidInstance);
}

// A limit is a budget: without room for all labels the rest of the time goes to a better schedule.
TEST(MoldableOptimal, UsesItsTimeWithoutRoomForAProof) {
  for (const Objective objective : kBoth) {
    const Instance instance = small_instance(1, 14, 6, 1, true);
    SHOW_ON_FAILURE(instance);
    ProofOptions options{objective, kUnlimitedWork, 0.3};
    options.labels.max_steps = 300;
    const ProofResult proof = prove(instance, optimal(instance, {objective, 0}).placement, options);
    const ProofResult result = optimal(instance, options);
    require_valid(instance, result.placement);
    EXPECT_FALSE(result.is_proved);
    EXPECT_FALSE(result.is_in_time);
    EXPECT_LE(result.bound, value_of(instance, result.placement, objective));
    if (objective == Objective::makespan) {  // windows of starts need no more room
      EXPECT_TRUE(proof.is_in_time);
      EXPECT_GT(proof.remaining_work, 0);
    }
  }
}

}  // namespace
}  // namespace cosched::moldable::search
