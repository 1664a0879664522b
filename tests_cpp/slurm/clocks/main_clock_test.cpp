#include "cosched/slurm/clocks/main_clock.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmMainClock, IsThatOfTheRecordingWhereThereIsOne) {
  Clocks clocks;
  EXPECT_EQ(make_main_clock(clocks, {}, false)->recorded_pass_time(), kInfinity);
  clocks.main_passes = {{5, true}};
  EXPECT_EQ(make_main_clock(clocks, {}, false)->recorded_pass_time(), 5);
}

}  // namespace
}  // namespace cosched::slurm
