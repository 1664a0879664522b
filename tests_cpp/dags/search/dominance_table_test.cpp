#include "cosched/dags/search/dominance_table.hpp"

#include <gtest/gtest.h>

namespace cosched::dags::search {
namespace {

TEST(SeenStates, AStateIsDominatedByAnEarlierOneThatIsNowhereGreater) {
  DominanceTable seen(1 << 20);
  EXPECT_FALSE(seen.is_dominated("a", {1, 5}));
  EXPECT_FALSE(seen.is_dominated("a", {5, 1}));
  EXPECT_TRUE(seen.is_dominated("a", {1, 5}));
  EXPECT_TRUE(seen.is_dominated("a", {6, 1}));
  EXPECT_FALSE(seen.is_dominated("a", {4, 4}));
  EXPECT_FALSE(seen.is_dominated("b", {6, 6}));
}

TEST(SeenStates, TheLimitCountsKeysAndHolds) {
  constexpr std::size_t kMostBytes = 100'000;
  DominanceTable seen(kMostBytes);
  for (int k = 0; k < 20'000; ++k) {
    const std::string key = std::string(1'000, 'x') + std::to_string(k);
    EXPECT_FALSE(seen.is_dominated(key, {1.0 * k, 2}));
    EXPECT_LE(seen.bytes(), kMostBytes);
  }
  EXPECT_GT(seen.bytes(), kMostBytes - 2'000);
  // What was kept still serves, what was not is not taken for kept.
  EXPECT_TRUE(seen.is_dominated(std::string(1'000, 'x') + "0", {0, 2}));
  EXPECT_FALSE(seen.is_dominated(std::string(1'000, 'x') + "19999", {19999, 2}));
}

TEST(SeenStates, TheLimitCountsStatesOfOneKey) {
  constexpr std::size_t kMostBytes = 10'000;
  DominanceTable seen(kMostBytes);
  for (int k = 0; k < 5'000; ++k) EXPECT_FALSE(seen.is_dominated("key", {1.0 * k, -1.0 * k}));
  EXPECT_LE(seen.bytes(), kMostBytes);
}

}  // namespace
}  // namespace cosched::dags::search
