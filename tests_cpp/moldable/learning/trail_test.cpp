#include "cosched/moldable/learning/trail.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

TEST(Literal, IsFalseWhereItsNegationIsTrue) {
  EXPECT_EQ(negation(at_least(3, 5)), at_most(3, 4));
  EXPECT_EQ(negation(negation(at_most(2, 7))), at_most(2, 7));
}

TEST(Trail, KeepsBoundsByLevels) {
  Trail trail;
  const int variable = trail.add_variable(0, 9);
  trail.open_level();
  EXPECT_TRUE(trail.raise(at_least(variable, 4), {}));
  trail.open_level();
  EXPECT_TRUE(trail.raise(at_most(variable, 4), {}));
  EXPECT_TRUE(trail.is_fixed(variable));
  trail.backjump_to(1);
  EXPECT_EQ(trail.low(variable), 4);
  EXPECT_EQ(trail.high(variable), 9);
  trail.backjump_to(0);
  EXPECT_EQ(trail.low(variable), 0);
  EXPECT_EQ(trail.level(), 0);
}

TEST(Trail, RefusesWhatContradictsABound) {
  Trail trail;
  const int variable = trail.add_variable(0, 9);
  EXPECT_FALSE(trail.raise(at_least(variable, 10), {Reason::Kind::clause, 3, 0}));
  EXPECT_EQ(trail.conflict().literal, at_least(variable, 10));
  EXPECT_EQ(trail.conflict().reason.number, 3);
  EXPECT_EQ(trail.low(variable), 0);
}

TEST(Trail, KnowsWhichEntryMadeALiteralTrue) {
  Trail trail;
  const int variable = trail.add_variable(0, 9);
  trail.open_level();
  (void)trail.raise(at_least(variable, 3), {});
  const int first = trail.size() - 1;
  (void)trail.raise(at_least(variable, 6), {});
  EXPECT_EQ(trail.entry_of(at_least(variable, 2)), first);
  EXPECT_EQ(trail.entry_of(at_least(variable, 3)), first);
  EXPECT_EQ(trail.entry_of(at_least(variable, 4)), first + 1);
  EXPECT_EQ(trail[trail.entry_of(at_least(variable, 0))].level, 0);
}

TEST(Trail, KeepsListedReasonsUntilTheirLevelIsTakenBack) {
  Trail trail;
  const int variable = trail.add_variable(0, 9);
  trail.open_level();
  trail.begin_explanation();
  trail.add_to_explanation(at_least(variable, 1));
  trail.add_to_explanation(at_most(variable, 8));
  const Reason reason = trail.explanation_reason();
  EXPECT_EQ(reason.detail, 2);
  EXPECT_EQ(trail.explanation_literal(reason.number + 1), at_most(variable, 8));
  trail.backjump_to(0);
  trail.open_level();
  trail.begin_explanation();
  EXPECT_EQ(trail.explanation_reason().number, reason.number);
}

}  // namespace
}  // namespace cosched::moldable::learning
