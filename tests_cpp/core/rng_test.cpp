#include "cosched/core/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/show_on_failure.hpp"

namespace cosched {
namespace {

// Pinned: a change of these numbers changes every seeded result of the library.
TEST(Rng, GoldenDraws) {
  Rng rng(42);
  const std::uint64_t first = rng.bits();
  Rng same_seed(42);
  EXPECT_EQ(same_seed.bits(), first);
  EXPECT_EQ(first, 1546998764402558742ULL);
  EXPECT_EQ(rng.bits(), 6990951692964543102ULL);
}

TEST(Rng, UniformStaysInTheUnitInterval) {
  Rng rng(1);
  double sum = 0;
  for (int k = 0; k < 100000; ++k) {
    SHOW_ON_FAILURE(k);
    const double x = rng.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(2);
  std::vector<int> count(7, 0);
  for (int k = 0; k < 70000; ++k) ++count[rng.below(7)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 500);
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(3);
  bool low = false, high = false;
  for (int k = 0; k < 1000; ++k) {
    SHOW_ON_FAILURE(k);
    const auto x = rng.between(-2, 2);
    ASSERT_GE(x, -2);
    ASSERT_LE(x, 2);
    low |= x == -2;
    high |= x == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(rng.between(5, 5), 5);
  rng.between(INT64_MIN, INT64_MAX);  // the full range does not overflow
}

TEST(Rng, ShuffleIsAPermutation) {
  Rng rng(4);
  std::vector<int> values(50);
  std::iota(values.begin(), values.end(), 0);
  auto shuffled = values;
  rng.shuffle(shuffled);
  EXPECT_NE(shuffled, values);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, values);
}

}  // namespace
}  // namespace cosched
