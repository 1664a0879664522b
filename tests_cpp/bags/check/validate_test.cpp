#include "cosched/bags/check/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cosched/core/errors.hpp"

namespace cosched::bags {
namespace {

Instance instance_with(double power_cap = kInfinity) {
  Extensions extensions;
  extensions.allowed = {1, 1, 0, 1};
  extensions.power_cap = power_cap;
  Table etc(2, 2), apc = Table(2, 2, 1);
  etc = {{1, 2}, {3, 4}};
  return Instance({3, 2}, {2, 1}, etc, apc, 100, 1, extensions);
}

// Two tasks of type 0 on machine 1 of type 0, the others on the machine of type 1.
check::ScheduleRows good() {
  return {{0, 0, 1}, {0, 1, 1}, {1, 0, 0}, {2, 1, 2}, {0, 8, 0}, {2, 10, 8}};
}

void expect_breach(const std::string& text, const std::function<void(check::ScheduleRows&)>& spoil,
                   double power_cap = kInfinity) {
  check::ScheduleRows rows = good();
  spoil(rows);
  try {
    check::validate(instance_with(power_cap), rows);
    FAIL() << "accepted: " << text;
  } catch (const InvalidSchedule& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Validate, AcceptsWhatIsRight) { EXPECT_NO_THROW(validate(instance_with(), good())); }

TEST(Validate, ThePowerCapCountsUntilTheLastEnd) {
  // 12 J in 10 s; the last run starts at 8 s.
  EXPECT_NO_THROW(validate(instance_with(1.25), good()));
}

TEST(Validate, NamesTheFirstBreach) {
  expect_breach("different lengths", [](check::ScheduleRows& r) { r.end.pop_back(); });
  expect_breach("row 0: task_type = 2", [](check::ScheduleRows& r) { r.task_type[0] = 2; });
  expect_breach("row 1: machine_type = -1", [](check::ScheduleRows& r) { r.machine_type[1] = -1; });
  expect_breach("row 1: machine = 1", [](check::ScheduleRows& r) { r.machine[1] = 1; });
  expect_breach("row 2: count = 0", [](check::ScheduleRows& r) { r.count[2] = 0; });
  expect_breach("row 0: count = 4", [](check::ScheduleRows& r) { r.count[0] = 4; });
  expect_breach("task type 1 may not run", [](check::ScheduleRows& r) {
    r.machine_type[2] = 0;
    r.end[2] = 6;
  });
  expect_breach("row 0: runs from -1", [](check::ScheduleRows& r) { r.start[0] = -1; });
  expect_breach("row 0: runs from 0 to nan",
                [](check::ScheduleRows& r) { r.end[0] = std::nan(""); });
  expect_breach("row 0: lasts 2.5 s", [](check::ScheduleRows& r) { r.end[0] = 2.5; });
  expect_breach("1 tasks of type 0 are not scheduled", [](check::ScheduleRows& r) {
    r.count[0] = 1;
    r.end[0] = 1;
  });
  expect_breach("more than the 3 tasks of type 0", [](check::ScheduleRows& r) {
    r.count[0] = 3;
    r.end[0] = 3;
  });
  expect_breach("row 1: starts at 7 on machine 0 of type 1, which row 2 holds until 8",
                [](check::ScheduleRows& r) {
                  r.start[1] = 7;
                  r.end[1] = 9;
                });
  expect_breach(
      "the power cap is 1.1 W", [](check::ScheduleRows&) {}, 1.1);  // 12 J in 10 s
}

}  // namespace
}  // namespace cosched::bags
