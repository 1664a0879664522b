#include "cosched/packs/exact/pairs.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

TEST(Pairs, EqualsExhaustiveSearchOnAnyTable) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 9; ++n)
      for (const int p : {1, 2, 3, 5})
        for (const int k : {1, 2}) {
          const Instance instance(Times(small_table(kind, n, p, 10 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          const Coschedule result = exact::pairs(instance);
          require_valid(instance, result);
          EXPECT_NEAR(result.cost, exhaustive_optimum(instance), 1e-12);
        }
}

TEST(Pairs, EqualsOptimalOnLargerInstances) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance(Times(speedup_workload(16, 8, seed)), 2);
    SHOW_ON_FAILURE(instance);
    const ExactResult proved = exact::optimal(instance);
    ASSERT_TRUE(proved.is_proved);
    EXPECT_NEAR(exact::pairs(instance).cost / proved.coschedule.cost, 1, 1e-9);
  }
}

// An odd number of tasks: the matching leaves one on its loop, the right one.
TEST(Pairs, LeavesTheTaskAloneThatNeedsAllProcessors) {
  const Table table{{4, 4, 4, 4}, {100, 50, 34, 25}, {4, 4, 4, 4}};
  const Coschedule result = exact::pairs(Instance(Times(table), 2));
  EXPECT_EQ(result.cost, 4 + 25);
  EXPECT_EQ(result.pack_of[0], result.pack_of[2]);
  EXPECT_EQ(result.procs[1], 4);
}

TEST(Pairs, RefusesLargerPacks) {
  EXPECT_THROW(exact::pairs(Instance(Times(random_table(4, 4, 1)), 3)), InvalidInstance);
  EXPECT_NO_THROW(exact::pairs(Instance(Times(random_table(4, 2, 1)), 3)));  // clamped to 2
}

}  // namespace
}  // namespace cosched::packs
