#include "cosched/slurm/state/limit_blocks.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

// Eight nodes and a QOS with one limit.
Machine machine_with(const Limit& limit) {
  Machine machine = plain_machine(8);
  machine.qos.resize(1);
  machine.qos[0].limits = {limit};
  return machine;
}

Job job_in_qos(int nodes, int user = 0) {
  Job job = plain_job(0, nodes, 600);
  job.qos = 0;
  job.user = user;
  return job;
}

Job running_on(int first, int last, int user = 0) {
  Job job = job_in_qos(last - first, user);
  job.running_state.emplace();
  for (int node = first; node < last; ++node)
    job.running_state->shares.nodes.push_back({node, 0, 0});
  return job;
}

TEST(SlurmLimitBlocks, ALimitOnNodesNamesTheRunningJobsThatCountInIt) {
  const Limit nodes_of_user{.kind = Kind::user, .tres = kNode, .value = 3};
  const Scenario scenario =
      scenario_of(machine_with(nodes_of_user),
                  {running_on(0, 2), running_on(2, 4, 1), job_in_qos(2), job_in_qos(1)});
  const auto blocks = limit_blocks(scenario);
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_FALSE(blocks[0]);
  EXPECT_FALSE(blocks[1]);
  ASSERT_TRUE(blocks[2]);
  EXPECT_EQ(blocks[2]->reason, "QOSMaxNodePerUserLimit");
  EXPECT_EQ(blocks[2]->limit, 3);
  EXPECT_EQ(blocks[2]->used, 2);
  EXPECT_EQ(blocks[2]->blocking_jobs, Nodes{0});  // not job 1, which is of another user
  EXPECT_FALSE(blocks[3]);                        // one node more is within the limit
}

TEST(SlurmLimitBlocks, ALimitOnJobsIsTestedBeforeNodes) {
  const Limit jobs_of_group{.kind = Kind::group_jobs, .tres = -1, .value = 2};
  const Scenario scenario =
      scenario_of(machine_with(jobs_of_group), {running_on(0, 1), running_on(1, 2), job_in_qos(1)});
  const auto blocks = limit_blocks(scenario);
  ASSERT_TRUE(blocks[2]);
  EXPECT_EQ(blocks[2]->reason, "QOSGrpJobsLimit");
  EXPECT_EQ(blocks[2]->limit, 2);
  EXPECT_EQ(blocks[2]->used, 2);
  EXPECT_EQ(blocks[2]->blocking_jobs, (Nodes{0, 1}));
}

TEST(SlurmLimitBlocks, ALimitThatTheJobAloneViolatesHasNoBlockingJobs) {
  const Limit nodes_of_job{.kind = Kind::job, .tres = kNode, .value = 2};
  const Scenario scenario =
      scenario_of(machine_with(nodes_of_job), {running_on(0, 1), job_in_qos(3)});
  const auto blocks = limit_blocks(scenario);
  ASSERT_TRUE(blocks[1]);
  EXPECT_EQ(blocks[1]->reason, "QOSMaxNodePerJobLimit");
  EXPECT_EQ(blocks[1]->used, 0);
  EXPECT_TRUE(blocks[1]->blocking_jobs.empty());
}

TEST(SlurmLimitBlocks, NoneWhereNothingRuns) {
  const Limit nodes_of_group{.kind = Kind::group, .tres = kNode, .value = 3};
  const auto blocks =
      limit_blocks(scenario_of(machine_with(nodes_of_group), {job_in_qos(2), job_in_qos(2)}));
  EXPECT_FALSE(blocks[0]);
  EXPECT_FALSE(blocks[1]);
}

}  // namespace
}  // namespace cosched::slurm
