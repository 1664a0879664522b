#include "cosched/slurm/clocks/clocks.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmClocks, RoundsDownOnTheUnixClock) {
  Clocks clocks;
  clocks.epoch = 1'000'000'010;  // 50 s behind a multiple of 60
  EXPECT_EQ(clocks.round_down(10, 60), 10);
  EXPECT_EQ(clocks.round_down(69, 60), 10);
  EXPECT_EQ(clocks.round_down(70, 60), 70);
  EXPECT_EQ(clocks.round_down(9, 60), -50);
}

TEST(SlurmClocks, PeriodsOfTheDistantFutureAreHalfAnHour) {
  const Periods periods{60};
  EXPECT_EQ(periods.after(59, 30), 30);
  EXPECT_EQ(periods.after(60, 30), 1800);
  EXPECT_EQ(periods.after(60, 7200), 7200);
}

}  // namespace
}  // namespace cosched::slurm
