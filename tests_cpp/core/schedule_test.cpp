#include "cosched/core/schedule.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"

namespace cosched {
namespace {

std::vector<int> units_of(const Schedule& schedule, int row) {
  return {schedule.unit.begin() + schedule.unit_begin[row],
          schedule.unit.begin() + schedule.unit_begin[row + 1]};
}

TEST(AssignUnits, LowestFreeNumbersInOrderOfStart) {
  const Schedule schedule = assign_units({5, 0, 0}, {9, 5, 7}, {1, 2, 1}, 3);
  EXPECT_EQ(units_of(schedule, 1), (std::vector<int>{0, 1}));
  EXPECT_EQ(units_of(schedule, 2), (std::vector<int>{2}));
  EXPECT_EQ(units_of(schedule, 0), (std::vector<int>{0}));
}

TEST(AssignUnits, LateInALongTimeNothingOverlapsWhereUnitsAreFree) {
  // The second task starts 0.05 s before the first ends: that is within 1e-9 of the time, but
  // unit 1 is free.
  const Schedule apart = assign_units({0, 1e8 - 0.05}, {1e8, 2e8}, {1, 1}, 2);
  EXPECT_EQ(units_of(apart, 0), (std::vector<int>{0}));
  EXPECT_EQ(units_of(apart, 1), (std::vector<int>{1}));
  // As many units in all as before: the third task finds both.
  const Schedule three = assign_units({0, 1e8 - 0.05, 1e8}, {1e8, 1e8, 2e8}, {1, 1, 2}, 2);
  EXPECT_EQ(units_of(three, 2), (std::vector<int>{0, 1}));
}

TEST(AssignUnits, AnEndLaterByRoundingDoesNotRefuseAStart) {
  const double end = 0.1 + 0.2, start = 0.3;
  ASSERT_GT(end, start);
  const Schedule schedule = assign_units({0, start}, {end, 1}, {1, 1}, 1);
  EXPECT_EQ(units_of(schedule, 1), (std::vector<int>{0}));
  EXPECT_THROW(assign_units({0, 0.3}, {0.31, 1}, {1, 1}, 1), InvalidSchedule);
}

TEST(AssignUnits, TasksThatTheirStartSwallowsLeaveTheirUnitsAtOnce) {
  // 1e12 + 1e-6 = 1e12: task 1 starts and ends when task 0, which stays, starts.
  const Schedule schedule = assign_units({1e12, 1e12, 0}, {2e12, 1e12 + 1e-6, 1e12}, {1, 1, 1}, 1);
  EXPECT_EQ(schedule.unit, (std::vector<int>{0, 0, 0}));
  EXPECT_THROW(assign_units({0, 0}, {2, 1}, {1, 1}, 1), InvalidSchedule);
}

}  // namespace
}  // namespace cosched
