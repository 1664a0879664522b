#include "cosched/moldable/learning/branching.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

TEST(Branching, DecidesTheLiteralOfMostConflicts) {
  Trail trail;
  for (int k = 0; k < 2; ++k) trail.add_variable(0, 9);
  Branching branching(2);
  EXPECT_EQ(branching.choose(trail), std::nullopt);
  branching.bump(at_least(0, 5));
  branching.bump(at_least(1, 3));
  branching.bump(at_most(1, 2));  // its negation
  EXPECT_EQ(branching.choose(trail), at_most(1, 2));
  EXPECT_EQ(branching.choose(trail), at_most(0, 4));
  EXPECT_EQ(branching.choose(trail), std::nullopt);
}

TEST(Branching, CountsLateConflictsMore) {
  Trail trail;
  for (int k = 0; k < 2; ++k) trail.add_variable(0, 9);
  Branching branching(2);
  branching.bump(at_least(0, 5));
  branching.decay();
  branching.bump(at_least(1, 3));
  EXPECT_EQ(branching.choose(trail), at_most(1, 2));
}

TEST(Branching, FollowsItsGuide) {
  Trail trail;
  trail.add_variable(0, 9);
  Branching branching(1);
  branching.save_value(0, 6);
  branching.bump(at_least(0, 6));
  EXPECT_EQ(branching.choose(trail), at_least(0, 6));
  branching.bump(at_least(0, 7));
  EXPECT_EQ(branching.choose(trail), at_most(0, 6));
}

TEST(Branching, OffersWhatIsOpenAgain) {
  Trail trail;
  trail.add_variable(0, 9);
  Branching branching(1);
  for (const int value : {2, 5, 8}) branching.bump(at_least(0, value));
  trail.open_level();
  (void)trail.raise(at_least(0, 5), {});
  EXPECT_EQ(branching.choose(trail), at_most(0, 7));  // the others are decided
  EXPECT_EQ(branching.choose(trail), std::nullopt);
  branching.reopen(trail, trail[trail.size() - 1]);
  trail.backjump_to(0);
  EXPECT_EQ(branching.choose(trail), at_most(0, 1));
  EXPECT_EQ(branching.choose(trail), at_most(0, 4));
  EXPECT_EQ(branching.choose(trail), std::nullopt);
}

}  // namespace
}  // namespace cosched::moldable::learning
