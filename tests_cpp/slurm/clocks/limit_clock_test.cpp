#include "cosched/slurm/clocks/limit_clock.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"

namespace cosched::slurm {
namespace {

// Ticks at whole seconds; nothing takes time.
TEST(SlurmLimitClock, LimitsAreCheckedEvery30Seconds) {
  Clocks clocks = exact_clocks();
  clocks.tick_period = 7;
  LimitClock clock(clocks, false);
  EXPECT_EQ(clock.next_check_time(), 35);  // the first tick from 30 on
  clock.on_check(35);
  EXPECT_EQ(clock.next_check_time(), 70);
  clocks.limit_check_times = {12, 80};
  LimitClock replay(clocks, false);
  EXPECT_EQ(replay.next_check_time(), 12);
  replay.on_check(12);
  EXPECT_EQ(replay.next_check_time(), 80);
  replay.on_check(80);
  EXPECT_EQ(replay.next_check_time(), kInfinity);
}

TEST(SlurmLimitClock, ChecksOfTheDistantFutureAreRare) {
  Clocks clocks = exact_clocks();
  clocks.periods.distant_time = 60;
  LimitClock clock(clocks, false);
  EXPECT_EQ(clock.next_check_time(), 30);
  clock.on_check(60);
  EXPECT_EQ(clock.next_check_time(), 1860);
}

}  // namespace
}  // namespace cosched::slurm
