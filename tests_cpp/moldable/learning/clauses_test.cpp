#include "cosched/moldable/learning/clauses.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

// Three variables between 0 and 9.
struct ThreeVariables {
  Trail trail;
  Clauses clauses{3};
  ThreeVariables() {
    for (int k = 0; k < 3; ++k) trail.add_variable(0, 9);
  }
  bool raise(Literal literal) {
    const int previous_bound = trail.bound(literal.side);
    return trail.raise(literal, {}) && clauses.propagate(trail, literal.side, previous_bound);
  }
};

TEST(Clauses, MakeTheLastLiteralTrue) {
  ThreeVariables three;
  three.clauses.add({at_least(0, 5), at_most(1, 3), at_least(2, 7)}, 2);
  EXPECT_TRUE(three.raise(at_most(0, 4)));
  EXPECT_EQ(three.trail.low(2), 0);
  EXPECT_TRUE(three.raise(at_least(1, 4)));
  EXPECT_EQ(three.trail.low(2), 7);
  std::vector<Literal> reasons;
  three.clauses.explain(0, at_least(2, 7), reasons);
  std::sort(reasons.begin(), reasons.end(), [](Literal a, Literal b) { return a.side < b.side; });
  EXPECT_EQ(reasons, (std::vector<Literal>{at_most(0, 4), at_least(1, 4)}));
}

TEST(Clauses, AreRefusedWhereAllLiteralsAreFalse) {
  ThreeVariables three;
  three.clauses.add({at_least(0, 5), at_least(1, 5)}, 2);
  ASSERT_TRUE(three.trail.raise(at_most(1, 2), {}));
  EXPECT_FALSE(three.raise(at_most(0, 2)));
}

TEST(Clauses, HoldAfterTheirWatchesHaveMoved) {
  ThreeVariables three;
  three.clauses.add({at_least(0, 5), at_least(1, 5), at_least(2, 5)}, 2);
  three.trail.open_level();
  EXPECT_TRUE(three.raise(at_most(0, 4)));
  three.trail.backjump_to(0);
  EXPECT_TRUE(three.raise(at_most(2, 4)));
  EXPECT_TRUE(three.raise(at_most(1, 4)));
  EXPECT_EQ(three.trail.low(0), 5);
}

TEST(Clauses, ForgetWhatHoldsAndWhatIsOnManyLevels) {
  ThreeVariables three;
  for (int value = 1; value <= 8; ++value)
    three.clauses.add({at_least(0, value), at_least(1, value)}, value);
  EXPECT_TRUE(three.raise(at_least(0, 1)));  // the first clause holds
  three.clauses.forget(three.trail);
  EXPECT_EQ(three.clauses.size(), 3);  // of seven; those on 2, 3 and 4 levels
  EXPECT_TRUE(three.raise(at_most(0, 3)));
  EXPECT_EQ(three.trail.low(1), 4);
}

}  // namespace
}  // namespace cosched::moldable::learning
