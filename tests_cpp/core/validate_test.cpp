#include "cosched/core/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

// Two CPUs and a GPU; task 0 (2 s) precedes task 1 (3 s, on both CPUs 1.5 s), task 2 only on GPU.
Requirements requirements() {
  Requirements need;
  need.tasks = 3;
  need.units = {2, 1};
  need.duration = [](int task, int kind, int count) {
    if (task == 2) return kind == 1 ? 4.0 : kInfinity;
    return (task == 0 ? 2.0 : 3.0) / count;
  };
  need.edges = {{0, 1}};
  need.release = {0, 0, 1};
  return need;
}

Schedule good() {
  Schedule schedule;
  schedule.place(0, 0, {0}, 0, 2);
  schedule.place(1, 0, {0, 1}, 2, 3.5);
  schedule.place(2, 1, {0}, 1, 5);
  return schedule;
}

std::string breach(const std::function<void(Schedule&)>& change) {
  Schedule schedule = good();
  change(schedule);
  try {
    validate(schedule, requirements());
  } catch (const InvalidSchedule& error) {
    return error.what();
  }
  return "";
}

TEST(Validate, AcceptsAGoodSchedule) { EXPECT_NO_THROW(validate(good(), requirements())); }

TEST(Validate, EachRuleIsChecked) {
  using S = Schedule&;
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in: " << text;
  };
  has(breach([](S s) { s.task[1] = 3; }), "not in 0..2");
  has(breach([](S s) { s.task[1] = 0; }), "placed twice");
  has(breach([](S s) { s.kind[0] = 2; }), "resource type 2");
  has(breach([](S s) { s.unit[0] = 2; }), "unit 2");
  has(breach([](S s) { s.unit[0] = -1; }), "unit -1");
  has(breach([](S s) { s.unit[2] = 0; }), "twice");
  has(breach([](S s) { s.end[0] = 1.9; }), "it needs 2");
  has(breach([](S s) { s.end[0] = 2.1; }), "it needs 2");
  has(breach([](S s) { s.start[0] = -1, s.end[0] = 1; }), "before its release");
  has(breach([](S s) { s.start[2] = 0, s.end[2] = 4; }), "before its release");
  has(breach([](S s) { s.start[1] = 1.5, s.end[1] = 3; }), "overlap");
  has(breach([](S s) { s.unit[0] = 1, s.unit[1] = 1, s.unit[2] = 0, s.end[0] = std::nan(""); }),
      "not finite");
  has(breach([](S s) { s.kind[2] = 0, s.start[2] = 10, s.end[2] = 14; }), "cannot run");
  has(breach([](S s) { s.end.pop_back(); }), "different lengths");
  has(breach([](S s) { s.unit_begin = {0, 1, 1, 4}; }), "has no unit");
}

TEST(Validate, EdgesAreChecked) {
  Schedule schedule;
  schedule.place(0, 0, {0}, 0, 2);
  schedule.place(1, 0, {1}, 1.5, 4.5);
  schedule.place(2, 1, {0}, 1, 5);
  try {
    validate(schedule, requirements());
    FAIL() << "a successor started early";
  } catch (const InvalidSchedule& error) {
    EXPECT_NE(std::string(error.what()).find("predecessor 0"), std::string::npos) << error.what();
  }
}

TEST(Validate, MissingTaskIsNamed) {
  Schedule schedule;
  schedule.place(0, 0, {0}, 0, 2);
  schedule.place(2, 1, {0}, 1, 5);
  EXPECT_THROW(validate(schedule, requirements()), InvalidSchedule);
}

TEST(AssignUnits, LowestFreeUnitsInOrderOfStart) {
  const Schedule schedule = assign_units({0, 0, 2, 1}, {2, 1, 3, 2}, {1, 2, 3, 2}, 3);
  const auto units = [&](int row) {
    return std::vector<int>(schedule.unit.begin() + schedule.unit_begin[row],
                            schedule.unit.begin() + schedule.unit_begin[row + 1]);
  };
  EXPECT_EQ(units(0), (std::vector<int>{0}));
  EXPECT_EQ(units(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(units(3), (std::vector<int>{1, 2}));
  EXPECT_EQ(units(2), (std::vector<int>{0, 1, 2}));
  EXPECT_THROW(assign_units({0, 0}, {1, 1}, {2, 2}, 3), InvalidSchedule);
}

}  // namespace
}  // namespace cosched
