#include "cosched/core/assert.hpp"

#include <gtest/gtest.h>

namespace cosched {
namespace {

#ifdef COSCHED_ASSERTIONS

TEST(Assert, ConditionThatHoldsIsEvaluatedOnce) {
  int evaluations = 0;
  COSCHED_ASSERT(++evaluations > 0);
  EXPECT_EQ(evaluations, 1);
}

TEST(Assert, ConditionThatFailsAbortsWithItsTextAndPlace) {
  const int jobs = -1;
  EXPECT_DEATH(COSCHED_ASSERT(jobs >= 0), "assert_test.cpp:[0-9]+: COSCHED_ASSERT\\(jobs >= 0\\)");
}

#else

TEST(Assert, ConditionIsNotEvaluatedWithoutAssertions) {
  int evaluations = 0;
  COSCHED_ASSERT(++evaluations < 0);
  EXPECT_EQ(evaluations, 0);
}

#endif

}  // namespace
}  // namespace cosched
