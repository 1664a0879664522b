#include "cosched/packs/columns/fractional.hpp"

#include <gtest/gtest.h>

#include "cosched/packs/columns/dominance.hpp"

namespace cosched::packs {
namespace {

// Task 2 lacks cover; exchanges 0 -> 1 -> 2 bring it, but every pack with 0 holds 1 as well, so
// that 1 could not take 0's place: only 2 can.
TEST(Fractional, ExchangesAreCarriedOutFromEndToEnd) {
  const std::vector<columns::FractionalPack> packs{{{5, {0, 1}}, 1}, {{4, {0, 1}}, 1}};
  const std::vector<columns::CoverExchange> chain{{1, 0, 1}, {2, 1, 1}};
  EXPECT_EQ(columns::total_cover(packs, 3), (std::vector<double>{2, 2, 0}));
  const std::vector<columns::CoverExchange> direct =
      columns::compose_exchanges(chain, columns::total_cover(packs, 3));
  ASSERT_EQ(direct.size(), 1U);
  EXPECT_EQ(direct[0].target_task, 2);
  const std::vector<columns::FractionalPack> once =
      columns::cover_once(columns::apply_exchanges(packs, direct), 3);
  EXPECT_EQ(columns::total_cover(once, 3), (std::vector<double>{1, 1, 1}));
}

TEST(Fractional, SplitsPacksWhereOnlyAPartIsNeeded) {
  const std::vector<columns::FractionalPack> packs{
      {{5, {0, 2}}, 1}, {{4, {0}}, 0.5}, {{3, {1}}, 0.5}};
  const std::vector<columns::CoverExchange> direct =
      columns::compose_exchanges({{1, 0, 0.75}}, columns::total_cover(packs, 3));
  const std::vector<columns::FractionalPack> moved = columns::apply_exchanges(packs, direct);
  EXPECT_EQ(columns::total_cover(moved, 3), (std::vector<double>{1, 1, 1}));
  double cost = 0;
  for (const columns::FractionalPack& f : moved) cost += f.value * f.pack.length;
  EXPECT_DOUBLE_EQ(cost, 5 + 2 + 1.5);  // as before
}

TEST(Fractional, ExcessLeavesTheLongestPacks) {
  const std::vector<columns::FractionalPack> once =
      columns::cover_once({{{5, {0, 1}}, 1}, {{4, {0}}, 0.5}, {{3, {0, 2}}, 1}}, 3);
  EXPECT_EQ(columns::total_cover(once, 3), (std::vector<double>{1, 1, 1}));
  for (const columns::FractionalPack& f : once) {
    if (f.pack.length == 5) {
      EXPECT_EQ(f.pack.tasks, std::vector<int>{1});
    }
  }
}

}  // namespace
}  // namespace cosched::packs
