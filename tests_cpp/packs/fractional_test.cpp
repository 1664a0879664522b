#include "cosched/packs/fractional.hpp"

#include <gtest/gtest.h>

namespace cosched::packs {
namespace {

// Task 2 lacks cover; exchanges 0 -> 1 -> 2 bring it, but every pack with 0 holds 1 as well, so
// that 1 could not take 0's place: only 2 can.
TEST(Fractional, ExchangesAreCarriedOutFromEndToEnd) {
  const std::vector<FractionalPack> packs{{{5, {0, 1}}, 1}, {{4, {0, 1}}, 1}};
  const std::vector<Exchange> chain{{1, 0, 1}, {2, 1, 1}};
  EXPECT_EQ(cover(packs, 3), (std::vector<double>{2, 2, 0}));
  const std::vector<Exchange> direct = end_to_end(chain, cover(packs, 3));
  ASSERT_EQ(direct.size(), 1U);
  EXPECT_EQ(direct[0].for_task, 2);
  const std::vector<FractionalPack> once = cover_once(carry_out(packs, direct), 3);
  EXPECT_EQ(cover(once, 3), (std::vector<double>{1, 1, 1}));
}

TEST(Fractional, SplitsPacksWhereOnlyAPartIsNeeded) {
  const std::vector<FractionalPack> packs{{{5, {0, 2}}, 1}, {{4, {0}}, 0.5}, {{3, {1}}, 0.5}};
  const std::vector<Exchange> direct = end_to_end({{1, 0, 0.75}}, cover(packs, 3));
  const std::vector<FractionalPack> moved = carry_out(packs, direct);
  EXPECT_EQ(cover(moved, 3), (std::vector<double>{1, 1, 1}));
  double cost = 0;
  for (const FractionalPack& f : moved) cost += f.value * f.pack.length;
  EXPECT_DOUBLE_EQ(cost, 5 + 2 + 1.5);  // as before
}

TEST(Fractional, ExcessLeavesTheLongestPacks) {
  const std::vector<FractionalPack> once =
      cover_once({{{5, {0, 1}}, 1}, {{4, {0}}, 0.5}, {{3, {0, 2}}, 1}}, 3);
  EXPECT_EQ(cover(once, 3), (std::vector<double>{1, 1, 1}));
  for (const FractionalPack& f : once) {
    if (f.pack.length == 5) {
      EXPECT_EQ(f.pack.tasks, std::vector<int>{1});
    }
  }
}

}  // namespace
}  // namespace cosched::packs
