#include "cosched/slurm/clocks/recorded_cycle_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

CycleProgress after_jobs(int jobs_examined) {
  return {.job_test_count = 0, .jobs_examined = jobs_examined, .start_count = 0};
}

TEST(SlurmRecordedCycleClock, YieldsGoesOnAndEndsAsRecorded) {
  const Clocks clocks;
  const std::vector<Slice> slices{{.end_time = 12, .jobs_examined = 1, .resume_time = 14},
                                  {.end_time = 15, .jobs_examined = 3, .resume_time = kEndOfQueue}};
  RecordedCycleClock clock(clocks, slices);
  clock.begin_slice(10, after_jobs(0));
  EXPECT_EQ(clock.current_time(after_jobs(0)), 10);
  EXPECT_EQ(clock.ending_slice(after_jobs(0)), nullptr);
  const Slice* slice = clock.ending_slice(after_jobs(1));
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(slice->resume_time, 14);
  clock.begin_slice(14, after_jobs(1));
  EXPECT_EQ(clock.current_time(after_jobs(1)), 14);
  EXPECT_EQ(clock.current_time(after_jobs(2)), 14.5);
  EXPECT_EQ(clock.ending_slice(after_jobs(3)), nullptr);  // it was at the end of its queue
  EXPECT_EQ(clock.duration(10, after_jobs(3)), 5);
  EXPECT_FALSE(clock.has_reached_max_time(99, 30));
  EXPECT_TRUE(clock.is_recorded());
}

TEST(SlurmRecordedCycleClock, IsThatOfTheRulesBehindTheLastSlice) {
  Clocks clocks;
  clocks.cycle_cost = 3;
  const std::vector<Slice> slices;
  RecordedCycleClock clock(clocks, slices);
  clock.begin_slice(10, after_jobs(0));
  EXPECT_FALSE(clock.is_recorded());
  EXPECT_EQ(clock.duration(10, after_jobs(0)), 3);
  EXPECT_TRUE(clock.has_reached_max_time(30, 30));
}

}  // namespace
}  // namespace cosched::slurm
