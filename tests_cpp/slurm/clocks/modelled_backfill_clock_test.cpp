#include "cosched/slurm/clocks/modelled_backfill_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

// Ticks at whole seconds; nothing takes time.
TEST(SlurmModelledBackfillClock, CyclesWaitForIntervalCompletionAndWork) {
  Clocks clocks = exact_clocks();
  ModelledBackfillClock clock(clocks, 30);
  EXPECT_EQ(clock.wake_time(), 30);
  EXPECT_FALSE(clock.begin_cycle_or_sleep(true, true, 1000));  // completing
  EXPECT_EQ(clock.wake_time(), 31);
  EXPECT_FALSE(clock.begin_cycle_or_sleep(false, false, 40.5));  // no work before 40.5
  EXPECT_EQ(clock.wake_time(), 41);
  EXPECT_TRUE(clock.begin_cycle_or_sleep(false, true, 1000));
  clock.on_cycle_end(2);
  EXPECT_EQ(clock.last_cycle_end(), 43);
  EXPECT_EQ(clock.wake_time(), 73);
  clocks.sleep_extra = -0.5;  // awake too early
  ModelledBackfillClock early(clocks, 30);
  EXPECT_FALSE(early.begin_cycle_or_sleep(false, true, 1000));
  EXPECT_EQ(early.wake_time(), 30.5);
}

TEST(SlurmModelledBackfillClock, CyclesOfTheDistantFutureAreRare) {
  Clocks clocks = exact_clocks();
  clocks.periods.distant_time = 60;
  ModelledBackfillClock clock(clocks, 30);
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 60);
  clock.on_cycle_end(0);
  EXPECT_EQ(clock.wake_time(), 1860);
}

}  // namespace
}  // namespace cosched::slurm
