#include "cosched/slurm/clocks/background_loop.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmBackgroundLoop, LoopTicksFromItsStart) {
  Clocks clocks;
  clocks.controller_start = -10;
  clocks.tick_offset = 0.5;
  clocks.tick_period = 2;
  const BackgroundLoop loop(clocks, false);  // -7.5, -5.5, ...
  EXPECT_EQ(loop.tick_at(-100), -7.5);
  EXPECT_EQ(loop.tick_at(-7.5), -7.5);
  EXPECT_EQ(loop.tick_at(-7.4), -5.5);
}

TEST(SlurmBackgroundLoop, Since24TheLoopTicksAtTheTurnsOfSeconds) {
  Clocks clocks;
  clocks.controller_start = -7.6;
  clocks.tick_period = 1.5;
  const BackgroundLoop loop(clocks, true);
  EXPECT_DOUBLE_EQ(loop.tick_at(-100), -6.995);  // the first
  EXPECT_DOUBLE_EQ(loop.tick_at(3.2), 4.005);
  EXPECT_DOUBLE_EQ(loop.tick_at(4.005), 4.005);
}

}  // namespace
}  // namespace cosched::slurm
