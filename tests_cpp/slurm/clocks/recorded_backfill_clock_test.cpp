#include "cosched/slurm/clocks/recorded_backfill_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

// Ticks at whole seconds; nothing takes time.
TEST(SlurmRecordedBackfillClock, RecordedCyclesComeFirst) {
  Clocks clocks = exact_clocks();
  clocks.cycle_times = {5, 9};
  RecordedBackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wake_time(), 5);
  EXPECT_TRUE(clock.begin_cycle_or_sleep(true, false, 1000));
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 9);
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 39);
  EXPECT_FALSE(clock.begin_cycle_or_sleep(true, true, 1000));
}

}  // namespace
}  // namespace cosched::slurm
