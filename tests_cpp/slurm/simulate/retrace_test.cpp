#include "cosched/slurm/simulate/retrace.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Which cores jobs had nobody says: those of two tiers may have the same.
TEST(SlurmRetrace, OfTiersThatSuspend) {
  std::vector<Job> jobs(3, shared_job(4, 100));
  jobs[1].partition = 1;
  jobs[2].submit = 5;
  const Scenario scenario = suspending(tiers_of({4}, {1, 2}), jobs);
  const Shares all{{{0, 4, 0}}, {}};
  const std::vector<RecordedRun> lives{{1, 90, all}, {2, 50, all}, {91, 99, all}};
  const auto samples = retrace(scenario, Clocks(), lives, {10, 95});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_TRUE(std::isnan(samples[0].priorities[0]));
  EXPECT_FALSE(std::isnan(samples[0].priorities[2]));
  EXPECT_TRUE(std::isnan(samples[1].priorities[2]));
}

}  // namespace
}  // namespace cosched::slurm
