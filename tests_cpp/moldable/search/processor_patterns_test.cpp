#include "cosched/moldable/search/processor_patterns.hpp"

#include <gtest/gtest.h>

#include "cosched/moldable/search/fastest_choices.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(MoldablePatterns, RefuseNoDeadlineThatAScheduleKeeps) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance = small_instance(kind, 4, 4, seed, false);
      SHOW_ON_FAILURE(instance);
      const double optimum = exhaustive_optima(instance).makespan;
      for (const double part : {0.3, 0.8, 1.0}) {
        ProcessorPatterns patterns(fastest_choices(instance), instance.machines(), part * optimum,
                                   1.5 * optimum);
        EXPECT_LE(patterns.bound(), optimum * (1 + kRounding)) << kind << " " << seed;
        EXPECT_GE(patterns.bound(), part * optimum);
        const FreeStep all_free{0, instance.machines()},
            late_step{0.2 * optimum, instance.machines()};
        EXPECT_TRUE(patterns.can_meet_deadline(15, {&all_free, 1}, optimum * (1 + kRounding)));
        EXPECT_TRUE(
            patterns.can_meet_deadline(15, {&late_step, 1}, 1.2 * optimum * (1 + kRounding)));
        EXPECT_FALSE(patterns.can_meet_deadline(15, {&all_free, 1}, 0.05 * optimum));
      }
    }
}

// Three jobs of 1 s on one of two processors: one holds two of them, which no area knows.
TEST(MoldablePatterns, KnowThatAProcessorHoldsWholeJobs) {
  const std::vector<std::vector<Choice>> choices(3, {{1, 1.0}});
  ProcessorPatterns patterns(choices, 2, 1.5, 3);
  EXPECT_NEAR(patterns.bound(), 2, 0.02);
  const FreeStep free[] = {{0.5, 1}, {0.9, 1}};
  EXPECT_FALSE(patterns.can_meet_deadline(7, free, 2.4));
  EXPECT_TRUE(patterns.can_meet_deadline(7, free, 2.5));
  EXPECT_TRUE(patterns.can_meet_deadline(3, free, 1.9));
  EXPECT_FALSE(patterns.can_meet_deadline(3, free, 1.8));
}

}  // namespace
}  // namespace cosched::moldable::search
