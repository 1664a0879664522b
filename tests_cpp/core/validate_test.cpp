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

TEST(Validate, DataArriveBeforeATaskStarts) {
  Requirements need = requirements();
  need.transfer = [](int, int, int, int, int) { return 1.0; };
  Schedule schedule = good();  // task 1 starts as task 0 ends
  EXPECT_THROW(validate(schedule, need), InvalidSchedule);
  schedule.start[1] = 3;
  schedule.end[1] = 4.5;
  EXPECT_NO_THROW(validate(schedule, need));
}

// Two tasks of 2 s, each on a unit of its own from 0 on, until `end`.
std::string breach_beside(const Sharing& sharing, double end) {
  Requirements need;
  need.tasks = 2;
  need.units = {2};
  need.duration = [](int, int, int) { return 2.0; };
  need.sharing = &sharing;
  Schedule schedule;
  schedule.place(0, 0, {0}, 0, end);
  schedule.place(1, 0, {1}, 0, end);
  try {
    validate(schedule, need);
  } catch (const InvalidSchedule& error) {
    return error.what();
  }
  return "";
}

TEST(Validate, NeedsOfWhatRunsTogetherFit) {
  const Sharing tight(2, {{.name = "memory", .capacity = 5, .need = {{3}, {3}}}}, std::nullopt,
                      std::nullopt);
  EXPECT_NE(breach_beside(tight, 2).find("6 of memory"), std::string::npos);
  const Sharing wide(2, {{.name = "memory", .capacity = 6, .need = {{3}, {3}}}}, std::nullopt,
                     std::nullopt);
  EXPECT_EQ(breach_beside(wide, 2), "");
}

TEST(Validate, SlowedTasksEndByTheirFactors) {
  const Matrix<double> table{{1, 1.5}, {1.5, 1}};
  for (const SlowdownRule rule : {SlowdownRule::sum, SlowdownRule::product, SlowdownRule::max}) {
    const Sharing pairs(2, {}, Slowdowns{.table = table, .rule = rule}, std::nullopt);
    EXPECT_EQ(breach_beside(pairs, 3), "");
    EXPECT_NE(breach_beside(pairs, 2), "");
  }
  // Each draws the whole bandwidth and waits for all of it: half the pace.
  const Sharing traffic(2, {}, std::nullopt,
                        Bandwidth{.demand = {{4}, {4}}, .capacity = 4, .stall = {1, 1}});
  EXPECT_EQ(breach_beside(traffic, 4), "");
  EXPECT_NE(breach_beside(traffic, 2), "");
}

}  // namespace
}  // namespace cosched
