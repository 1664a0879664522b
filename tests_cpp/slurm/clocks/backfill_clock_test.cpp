#include "cosched/slurm/clocks/backfill_clock.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmBackfillClock, IsThatOfTheRecordingWhereThereIsOne) {
  Clocks clocks;
  clocks.controller_start = 0;
  EXPECT_EQ(make_backfill_clock(clocks, 30)->wake_time(), 30);
  clocks.cycle_times = {7};
  EXPECT_EQ(make_backfill_clock(clocks, 30)->wake_time(), 7);
}

}  // namespace
}  // namespace cosched::slurm
