#include "cosched/slurm/clocks/cycle_clock.hpp"

#include <gtest/gtest.h>

namespace cosched::slurm {
namespace {

TEST(SlurmCycleClock, IsRecordedForTheCyclesOfTheRecording) {
  Clocks clocks;
  clocks.slices = {{{.end_time = 12, .jobs_examined = 1, .resume_time = 14}}};
  const std::unique_ptr<CycleClock> first = make_cycle_clock(clocks, 1);
  first->begin_slice(10, {0, 0, 0});
  EXPECT_TRUE(first->is_recorded());
  const std::unique_ptr<CycleClock> second = make_cycle_clock(clocks, 2);
  second->begin_slice(40, {0, 0, 0});
  EXPECT_FALSE(second->is_recorded());
}

}  // namespace
}  // namespace cosched::slurm
