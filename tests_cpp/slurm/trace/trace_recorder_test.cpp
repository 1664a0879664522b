#include "cosched/slurm/trace/trace_recorder.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

CycleTrace cycle_with_jobs(int number, const std::vector<int>& jobs) {
  CycleTrace cycle;
  cycle.number = number;
  for (const int job : jobs) {
    cycle.queue.push_back({job, 0, 1.0});
    cycle.jobs.push_back({{job, 0, 1.0}, 10});
  }
  return cycle;
}

TEST(SlurmTraceRecorder, WantsCyclesByNumberAndTime) {
  const TraceRecorder recorder(
      {.first_cycle = 2, .last_cycle = 3, .begin_time = 10, .end_time = 20});
  EXPECT_FALSE(recorder.wants_cycle(1, 15));
  EXPECT_TRUE(recorder.wants_cycle(2, 10));
  EXPECT_TRUE(recorder.wants_cycle(3, 20));
  EXPECT_FALSE(recorder.wants_cycle(3, 20.1));
  EXPECT_FALSE(recorder.wants_cycle(3, 9.9));
  EXPECT_FALSE(recorder.wants_cycle(4, 15));
}

TEST(SlurmTraceRecorder, WantsPassesOfItsTimeAlone) {
  const TraceRecorder recorder({.first_cycle = 9, .begin_time = 10, .end_time = 20});
  EXPECT_TRUE(recorder.wants_pass(15));
  EXPECT_FALSE(recorder.wants_pass(21));
  EXPECT_FALSE(TraceRecorder({.with_passes = false}).wants_pass(15));
}

TEST(SlurmTraceRecorder, KeepsTheSelectedJobAlone) {
  TraceRecorder recorder({.job = 4});
  CycleTrace cycle = cycle_with_jobs(1, {3, 4, 5});
  cycle.jobs[2].started_job = 4;  // an earlier task of its array started in its place
  recorder.add_cycle(cycle);
  ASSERT_EQ(recorder.cycles().size(), 1u);
  ASSERT_EQ(recorder.cycles()[0].queue.size(), 1u);
  EXPECT_EQ(recorder.cycles()[0].queue[0].job, 4);
  ASSERT_EQ(recorder.cycles()[0].jobs.size(), 2u);
  EXPECT_EQ(recorder.cycles()[0].jobs[1].entry.job, 5);
}

TEST(SlurmTraceRecorder, KeepsAllJobsWhereNoneIsSelected) {
  TraceRecorder recorder({});
  recorder.add_cycle(cycle_with_jobs(1, {3, 4, 5}));
  recorder.add_pass({.time = 7});
  EXPECT_EQ(recorder.cycles()[0].jobs.size(), 3u);
  EXPECT_EQ(recorder.passes()[0].time, 7);
}

}  // namespace
}  // namespace cosched::slurm
