#include "cosched/core/numeric.hpp"

#include <gtest/gtest.h>

namespace cosched {
namespace {

TEST(Numeric, AllowsRoundingOnly) {
  EXPECT_TRUE(leq(1 + 1e-10, 1));
  EXPECT_FALSE(leq(1 + 1e-8, 1));
  EXPECT_TRUE(close(1e200, 1e200 * (1 - 1e-10)));
  EXPECT_FALSE(close(0, 1e-300));
}

TEST(Numeric, NothingFiniteIsCloseToInfinity) {
  EXPECT_FALSE(leq(kInfinity, 1));
  EXPECT_TRUE(leq(1, kInfinity));
  EXPECT_TRUE(close(kInfinity, kInfinity));
  EXPECT_FALSE(close(1e308, kInfinity));
  EXPECT_FALSE(leq(std::nan(""), 1));
}

}  // namespace
}  // namespace cosched
