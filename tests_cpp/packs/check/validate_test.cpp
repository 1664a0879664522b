#include "cosched/packs/check/validate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::packs::check {
namespace {

// Four tasks of 4 s on one of three processors and 2 s on two, at most two in a pack.
Instance four_tasks() {
  return Instance(Times(Table{{4, 2, 2}, {4, 2, 2}, {4, 2, 2}, {4, 2, 2}}), 2);
}

// Tasks 0 and 1 from 0 to 4 s, tasks 2 and 3 from `second_start`.
Schedule two_packs(double second_start) {
  Schedule schedule;
  schedule.place(0, 0, {0, 1}, 0, 2);
  schedule.place(1, 0, {2}, 0, 4);
  schedule.place(2, 0, {0, 1}, second_start, second_start + 2);
  schedule.place(3, 0, {2}, second_start, second_start + 4);
  return schedule;
}

std::string breach_of(const Schedule& schedule) {
  try {
    validate(four_tasks(), schedule);
  } catch (const InvalidSchedule& error) {
    return error.what();
  }
  return "valid";
}

TEST(ValidatePacks, APackEndsBeforeTheNextOne) {
  EXPECT_EQ(breach_of(two_packs(4)), "valid");
  EXPECT_EQ(breach_of(two_packs(9)), "valid");
  Schedule early = two_packs(4);
  early.start[2] = 2;  // its processors are free, but the pack before it runs until 4 s
  early.end[2] = 4;
  EXPECT_EQ(breach_of(early), "task 2 starts at 2 inside the pack that runs from 0 to 4");
}

TEST(ValidatePacks, APackHasAtMostSoManyTasks) {
  Schedule schedule;
  for (int task = 0; task < 3; ++task) schedule.place(task, 0, {task}, 0, 4);
  schedule.place(3, 0, {0}, 4, 8);
  EXPECT_EQ(breach_of(schedule), "the pack that starts at 0 has more than 2 tasks");
}

TEST(ValidatePacks, ATaskLastsAsLongAsOnItsProcessors) {
  Schedule schedule = two_packs(4);
  schedule.end[3] = 7;
  EXPECT_NE(breach_of(schedule), "valid");
}

}  // namespace
}  // namespace cosched::packs::check
