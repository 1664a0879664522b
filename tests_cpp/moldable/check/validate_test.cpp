#include "cosched/moldable/check/validate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::check {
namespace {

// Two jobs, the second after the first, which is released at 1 s; on one of four processors they
// take 4 s and 6 s, on two 3 s and 4 s.
Instance two_jobs() {
  return Instance(Times(Table{{4, 3}, {6, 4}}), {1, 1}, {1, 0}, 4)
      .with_precedence(std::make_shared<const TaskGraph>(2, std::vector<Edge>{{0, 1}}));
}

Schedule one_after_the_other(double start, double next) {
  Schedule schedule;
  schedule.place(0, 0, {0, 1}, start, start + 3);
  schedule.place(1, 0, {2, 3}, next, next + 4);
  return schedule;
}

bool is_valid(const Schedule& schedule) {
  try {
    validate(two_jobs(), schedule);
  } catch (const InvalidSchedule&) {
    return false;
  }
  return true;
}

TEST(ValidateMoldable, ReleasesPrecedenceAndTimesHold) {
  EXPECT_TRUE(is_valid(one_after_the_other(1, 4)));
  EXPECT_FALSE(is_valid(one_after_the_other(0, 4)));  // before the release
  EXPECT_FALSE(is_valid(one_after_the_other(1, 3)));  // before the first job ends
  Schedule schedule = one_after_the_other(1, 4);
  schedule.end[1] = 7;
  EXPECT_FALSE(is_valid(schedule));
}

TEST(ValidateMoldable, FindsEachBreach) {
  const Instance instance(Times(Table(2, 2, 1.0)), {1, 1}, {0, 1});
  Placement good = empty_placement(2);
  place(instance, good, 0, 2, 0);
  place(instance, good, 1, 2, 1);
  const Schedule schedule = to_schedule(instance, good);
  EXPECT_NO_THROW(validate(instance, schedule));
  Schedule early = schedule;
  early.start[1] = early.end[1] - 1.5;
  EXPECT_THROW(validate(instance, early), InvalidSchedule);
  Schedule overlap = schedule;
  overlap.start[0] = 0.5;
  overlap.end[0] = 1.5;
  EXPECT_THROW(validate(instance, overlap), InvalidSchedule);
  Placement crowded = good;
  crowded.start[0] = 0.5;
  crowded.end[0] = 1.5;
  EXPECT_THROW(to_schedule(instance, crowded), InvalidSchedule);
}

TEST(WorkPathBound, IsWhatTheWeightsAndTheFlowSay) {
  const Instance instance = two_jobs();
  // The path alone: 1 s until the release, 3 s and 4 s.
  EXPECT_DOUBLE_EQ(certified_bound(instance, {{0, 1}, {1, 1}, {{0, 1, 1}}}), 8);
  // The work alone: one processor each, (4 + 6) / 4.
  EXPECT_DOUBLE_EQ(certified_bound(instance, {{1, 0}, {0, 0}, {}}), 2.5);
  // Half of each: 0.5 of the release, then min(4 (0.5 + 1/8), 3 (0.5 + 1/4)) and
  // min(6 (0.5 + 1/8), 4 (0.5 + 1/4)).
  EXPECT_DOUBLE_EQ(certified_bound(instance, {{0.5, 0.5}, {0.5, 0.5}, {{0, 1, 0.5}}}), 5.75);
}

TEST(WorkPathBound, FlowIsConservedAtEachEndOfAnEdge) {
  const Instance instance = two_jobs();
  const auto refuses = [&](const graph::WorkPathCertificate& certificate) {
    EXPECT_THROW(certified_bound(instance, certificate), SolverError);
  };
  refuses({{0, 1}, {1, 0.5}, {{0, 1, 1}}});  // more comes in than goes through the second
  refuses({{0, 1}, {0.5, 1}, {{0, 1, 1}}});  // more goes out of the first than through it
  refuses({{0, 1}, {1, 1}, {}});             // both begin: two units of flow for a weight of one
  refuses({{0.5, 0.6}, {0, 0}, {}});
  refuses({{1.5, -0.5}, {0, 0}, {}});
}

}  // namespace
}  // namespace cosched::moldable::check
