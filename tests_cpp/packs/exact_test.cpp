#include "cosched/packs/exact.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/packs/bounds.hpp"
#include "cosched/packs/heuristics.hpp"
#include "support/packs_instances.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

Table table_of(int kind, int n, int p, std::uint64_t seed) {
  return kind == 0   ? random_table(n, p, seed)
         : kind == 1 ? tied_table(n, p, seed)
                     : wild_table(n, p, seed);
}

TEST(Optimal, EqualsExhaustiveSearch) {
  for (int kind = 0; kind < 2; ++kind)
    for (int n = 1; n <= 8; ++n)
      for (const int p : {1, 2, 4, 6})
        for (const int k : {1, 2, 3, 4, n}) {
          const Instance instance(Times(table_of(kind, n, p, 100 * n + p)), k);
          const ExactResult result = optimal(instance);
          EXPECT_TRUE(result.proved);
          require_valid(instance, result.coschedule);
          EXPECT_DOUBLE_EQ(result.bound, result.coschedule.cost);
          EXPECT_NEAR(result.coschedule.cost, exhaustive_optimum(instance), 1e-12)
              << "n " << n << " p " << p << " k " << k;
        }
}

TEST(Pairs, EqualsExhaustiveSearchOnAnyTable) {
  for (int kind = 0; kind < 3; ++kind)
    for (int n = 1; n <= 8; ++n)
      for (const int p : {1, 2, 3, 5})
        for (const int k : {1, 2}) {
          const Instance instance(Times(table_of(kind, n, p, 10 * n + p)), k);
          const Coschedule result = pairs(instance);
          require_valid(instance, result);
          EXPECT_NEAR(result.cost, exhaustive_optimum(instance), 1e-12);
        }
}

TEST(Pairs, RefusesLargerPacks) {
  EXPECT_THROW(pairs(Instance(Times(random_table(4, 4, 1)), 3)), InvalidInstance);
  EXPECT_NO_THROW(pairs(Instance(Times(random_table(4, 2, 1)), 3)));  // clamped to 2
}

TEST(Ilp, EqualsExhaustiveSearch) {
  for (int kind = 0; kind < 3; ++kind)
    for (int n = 1; n <= 3; ++n)
      for (const int k : {1, 2, 3}) {
        const Instance instance(Times(table_of(kind, n, 3, 7 * n)), k);
        const ExactResult result = ilp(instance);
        ASSERT_TRUE(result.proved);
        require_valid(instance, result.coschedule);
        EXPECT_NEAR(result.coschedule.cost, exhaustive_optimum(instance), 1e-9);
      }
}

TEST(Optimal, SolvesThreePartition) {
  for (const int k : {3, 4, 5}) {
    const Instance instance = three_partition(3, 23, k, 5);
    const ExactResult result = optimal(instance);
    EXPECT_TRUE(result.proved);
    EXPECT_DOUBLE_EQ(result.coschedule.cost, 3);
  }
}

}  // namespace
}  // namespace cosched::packs
