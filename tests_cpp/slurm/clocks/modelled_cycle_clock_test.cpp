#include "cosched/slurm/clocks/modelled_cycle_clock.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmModelledCycleClock, TestsAndStartsCostTime) {
  Clocks clocks;
  clocks.cycle_cost = 1;
  clocks.test_cost = 0.25;
  clocks.start_cost = 2;
  ModelledCycleClock clock(clocks);
  clock.begin_slice(10, {0, 0, 0});
  const CycleProgress progress{.job_test_count = 4, .jobs_examined = 9, .start_count = 3};
  EXPECT_EQ(clock.current_time(progress), 11);
  EXPECT_EQ(clock.duration(10, progress), 8);
  EXPECT_EQ(clock.ending_slice(progress), nullptr);
  EXPECT_FALSE(clock.has_reached_max_time(29, 30));
  EXPECT_TRUE(clock.has_reached_max_time(30, 30));
}

}  // namespace
}  // namespace cosched::slurm
