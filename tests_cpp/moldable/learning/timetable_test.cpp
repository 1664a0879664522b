#include "cosched/moldable/learning/timetable.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

std::vector<Literal> reasons_of(const Trail& trail, const Trail::Entry& entry) {
  std::vector<Literal> reasons;
  for (int k = 0; k < entry.reason.detail; ++k)
    reasons.push_back(trail.explanation_literal(entry.reason.number + k));
  return reasons;
}

TEST(Timetable, MovesAJobBehindWhatSurelyRuns) {
  Trail trail;
  const int running = trail.add_variable(2, 3);  // runs from 3 to 6 whatever its start
  const int waiting = trail.add_variable(1, 20);
  Timetable timetable({{running, 4, 0.6}, {waiting, 5, 0.5}});
  EXPECT_TRUE(timetable.propagate(trail));
  EXPECT_EQ(trail.low(waiting), 6);
  EXPECT_EQ(trail.high(waiting), 20);
  const Trail::Entry entry = trail[trail.size() - 1];
  EXPECT_EQ(
      reasons_of(trail, entry),
      (std::vector<Literal>{at_least(waiting, 1), at_most(running, 5), at_least(running, 2)}));
}

TEST(Timetable, MovesAJobBeforeWhatSurelyRuns) {
  Trail trail;
  const int running = trail.add_variable(10, 11);
  const int waiting = trail.add_variable(0, 12);
  Timetable timetable({{running, 4, 0.6}, {waiting, 5, 0.5}});
  EXPECT_TRUE(timetable.propagate(trail));
  EXPECT_EQ(trail.low(waiting), 0);
  EXPECT_EQ(trail.high(waiting), 6);
}

TEST(Timetable, ExplainsEachStepByOneSecond) {
  Trail trail;
  const int running = trail.add_variable(0, 0);
  const int waiting = trail.add_variable(0, 20);
  Timetable timetable({{running, 10, 0.6}, {waiting, 4, 0.5}});
  EXPECT_TRUE(timetable.propagate(trail));
  EXPECT_EQ(trail.low(waiting), 10);
  // To 4, 8 and 10: no second of a job is further away than its length.
  EXPECT_EQ(trail.size(), 4 + 3);
}

TEST(Timetable, RefusesAnOverload) {
  Trail trail;
  const int first = trail.add_variable(0, 2);
  const int second = trail.add_variable(1, 3);
  Timetable timetable({{first, 5, 0.5}, {second, 5, 0.6}});
  EXPECT_FALSE(timetable.propagate(trail));
  // Both run at second 3: the larger one cannot start later.
  EXPECT_EQ(trail.conflict().literal, at_least(second, 4));
  EXPECT_EQ(reasons_of(trail, trail.conflict()),
            (std::vector<Literal>{at_least(second, -1), at_most(first, 3), at_least(first, -1)}));
}

TEST(Timetable, LeavesJobsThatFit) {
  Trail trail;
  const int first = trail.add_variable(0, 0);
  const int second = trail.add_variable(0, 9);
  Timetable timetable({{first, 5, 0.5}, {second, 5, 0.5}});
  const int size = trail.size();
  EXPECT_TRUE(timetable.propagate(trail));
  EXPECT_EQ(trail.size(), size);
}

}  // namespace
}  // namespace cosched::moldable::learning
