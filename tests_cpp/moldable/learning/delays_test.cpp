#include "cosched/moldable/learning/delays.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

// Two starts between 0 and 9, and a condition.
struct TwoStarts {
  Trail trail;
  int first = trail.add_variable(0, 9);
  int second = trail.add_variable(0, 9);
  int condition = trail.add_variable(0, 1);
  Delays delays{trail.variables()};

  bool propagate_all() {
    for (int side = 0; side < 2 * trail.variables(); ++side)
      if (!delays.propagate(trail, side)) return false;
    return true;
  }
};

TEST(Delays, MoveBothEnds) {
  TwoStarts starts;
  starts.delays.add(starts.first, starts.second, 4);
  EXPECT_TRUE(starts.propagate_all());
  EXPECT_EQ(starts.trail.low(starts.second), 4);
  EXPECT_EQ(starts.trail.high(starts.first), 5);
}

TEST(Delays, AreRefusedWhereThereIsNoTimeForThem) {
  TwoStarts starts;
  starts.delays.add(starts.first, starts.second, 10);
  EXPECT_FALSE(starts.propagate_all());
}

TEST(Delays, OnAConditionHoldOnceItIsTrue) {
  TwoStarts starts;
  starts.delays.add(starts.first, starts.second, 4, at_least(starts.condition, 1));
  EXPECT_TRUE(starts.propagate_all());
  EXPECT_EQ(starts.trail.low(starts.second), 0);
  (void)starts.trail.raise(at_least(starts.condition, 1), {});
  EXPECT_TRUE(starts.propagate_all());
  EXPECT_EQ(starts.trail.low(starts.second), 4);
  EXPECT_EQ(starts.trail.high(starts.first), 5);
}

TEST(Delays, RuleOutTheirConditionWhereTheyAreImpossible) {
  TwoStarts starts;
  starts.delays.add(starts.first, starts.second, 4, at_least(starts.condition, 1));
  (void)starts.trail.raise(at_least(starts.first, 6), {});
  EXPECT_TRUE(starts.propagate_all());
  EXPECT_TRUE(starts.trail.is_true(at_most(starts.condition, 0)));
  const Trail::Entry& entry = starts.trail[starts.trail.size() - 1];
  ASSERT_EQ(entry.reason.kind, Reason::Kind::impossible);
  std::vector<Literal> reasons;
  starts.delays.explain_impossible(entry.reason.number, entry.reason.detail, reasons);
  EXPECT_EQ(reasons, (std::vector<Literal>{at_least(starts.first, 6), at_most(starts.second, 9)}));
}

TEST(Delays, AreExplainedByTheLeastThatGivesTheBound) {
  TwoStarts starts;
  starts.delays.add(starts.first, starts.second, 4, at_least(starts.condition, 1));
  std::vector<Literal> reasons;
  starts.delays.explain_delay(0, at_least(starts.second, 7), reasons);
  EXPECT_EQ(reasons,
            (std::vector<Literal>{at_least(starts.first, 3), at_least(starts.condition, 1)}));
}

}  // namespace
}  // namespace cosched::moldable::learning
