#include "cosched/slurm/select/running_by_end.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmRunningByEnd, JobsOnNodesAreBitsInOrderOfTheirEnds) {
  const Scenario scenario = scenario_of(
      plain_machine(130), {plain_job(0, 1, 300), plain_job(0, 129, 100), plain_job(0, 1, 200)});
  Allocations allocations(scenario);
  allocations.start(0, choice_from(0, 1, 130), 0);
  allocations.start(1, choice_from(1, 129, 130), 0);  // nodes in three words
  allocations.start(2, choice_from(129, 130, 130), 0);
  RunningByEnd running;
  running.refresh(allocations);
  ASSERT_EQ(running.size(), 3U);
  EXPECT_EQ(running[0].job, 1);
  EXPECT_EQ(running[1].job, 2);
  EXPECT_EQ(running[2].job, 0);
  EXPECT_EQ(running[2].expected_end, 300);
  EXPECT_EQ(running.jobs_on_nodes(0, nodes_from(0, 1, 130)), 0b100U);
  EXPECT_EQ(running.jobs_on_nodes(0, nodes_from(128, 130, 130)), 0b011U);
  EXPECT_EQ(running.jobs_on_nodes(0, nodes_from(0, 130, 130)), 0b111U);
  allocations.end(1, 50);
  EXPECT_EQ(running.size(), 3U);  // as of the last refresh
  running.refresh(allocations);
  EXPECT_EQ(running.size(), 2U);
}

}  // namespace
}  // namespace cosched::slurm
