#include "cosched/slurm/model/scenario.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "cosched/core/errors.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmScenario, CutsLimitsToThePartition) {
  Machine machine = plain_machine(2);
  machine.partitions.push_back({nodes_from(0, 1, 2), 1, 100, 0});
  const Scenario scenario =
      scenario_of(machine, {plain_job(0, 1, 300), plain_job(0, 1, kNever),
                            plain_job(0, 1, 300, 10, 1), plain_job(0, 1, 50, 10, 1)});
  EXPECT_EQ(scenario.job(0).limit, 300);
  EXPECT_EQ(scenario.job(1).limit, kYear);
  EXPECT_TRUE(scenario.job(1).is_unlimited);
  EXPECT_FALSE(scenario.job(0).is_unlimited || scenario.job(2).is_unlimited);
  EXPECT_EQ(scenario.job(2).limit, 100);
  EXPECT_EQ(scenario.job(3).limit, 50);
}

TEST(SlurmScenario, RefusesAJobLargerThanItsPartition) {
  EXPECT_NO_THROW(scenario_of(plain_machine(2), {plain_job(0, 2, 60)}));
  EXPECT_THROW(scenario_of(plain_machine(2), {plain_job(0, 3, 60)}), InfeasibleError);
}

TEST(SlurmScenario, AJobWaitsInPartitionsOfItsLimitAlone) {
  Machine machine = plain_machine(2);
  machine.partitions[0].max_time = 100;
  machine.partitions.push_back({nodes_from(0, 2, 2), 1, kNever, 0});
  std::vector<Job> jobs{plain_job(0, 1, 101), plain_job(0, 1, 100)};
  for (Job& job : jobs) job.partitions = {0, 1};
  const Scenario scenario = scenario_of(machine, jobs);
  EXPECT_EQ(scenario.job(0).partitions, std::vector<int>{1});
  EXPECT_EQ(scenario.job(0).limit, 101);
  EXPECT_EQ(scenario.job(1).partitions, (std::vector<int>{0, 1}));
}

TEST(SlurmScenario, APartitionBoundsTheNodesOfAJob) {
  Machine machine = plain_machine(4);
  machine.partitions[0].min_nodes = 2;
  machine.partitions[0].max_nodes = 3;
  machine.partitions.push_back({nodes_from(0, 4, 4), 1, kNever, 0});
  std::vector<Job> jobs{plain_job(0, 1, 60), plain_job(0, 4, 60), plain_job(0, 2, 60)};
  for (Job& job : jobs) job.partitions = {0, 1};
  const Scenario scenario = scenario_of(machine, jobs);
  EXPECT_EQ(scenario.job(QueueEntry{0, 0}).nodes, 2);
  EXPECT_EQ(scenario.job(QueueEntry{0, 0}).request.max_nodes, 3);
  EXPECT_EQ(scenario.job(QueueEntry{0, 1}).nodes, 1);
  EXPECT_EQ(scenario.job(QueueEntry{0, 1}).request.max_nodes, kAnyNodes);
  EXPECT_EQ(scenario.job(1).partitions, std::vector<int>{1});
  EXPECT_EQ(scenario.job(1).partition, 1);
  EXPECT_NO_THROW(scenario_of(machine, {plain_job(0, 3, 60)}));
  EXPECT_THROW(scenario_of(machine, {plain_job(0, 4, 60)}), InfeasibleError);
  Job exactly = plain_job(0, 1, 60);  // -N 1
  exactly.request.max_nodes = 1;
  EXPECT_THROW(scenario_of(machine, {exactly}), InfeasibleError);
}

TEST(SlurmScenario, AQosMayLiftTheNumbersOfNodesOfAPartition) {
  Machine machine = plain_machine(8);
  machine.partitions[0].max_nodes = 2;
  machine.qos.resize(2);
  machine.qos[1].ignores_partition_nodes = true;
  Job job = plain_job(0, 4, 600);
  job.qos = 0;
  EXPECT_THROW(scenario_of(machine, {job}), InfeasibleError);
  job.qos = 1;
  EXPECT_EQ(scenario_of(machine, {job}).job(QueueEntry{0, 0}).nodes, 4);
}

// Whether a scenario of one job on a machine with one of each thing is refused.
bool refused(const std::function<void(Machine&, Job&, std::vector<Association>&)>& change) {
  Machine machine = plain_machine(2);
  machine.node_sets = {nodes_from(0, 1, 2)};
  machine.licences = {1};
  machine.qos.resize(1);
  machine.node_gpus = {{1, 1}};
  Job job = plain_job(0, 1, 60);
  std::vector<Association> accounts{root_account(), user_below(0)};
  change(machine, job, accounts);
  try {
    const Scenario scenario(
        machine, {job}, to_settings({}),
        {{.created_at = 0, .begin = 0, .end = 600, .nodes = nodes_from(0, 1, 2)}}, {}, accounts);
  } catch (const InvalidInstance&) {
    return true;
  }
  return false;
}

TEST(SlurmScenario, NumbersThatReferToNothingAreRefused) {
  EXPECT_FALSE(refused([](Machine&, Job&, std::vector<Association>&) {}));
  for (const int wrong : {-5, -2, 1, 1 << 30}) {
    const auto refuses_job = [&](auto member) {
      return refused([&](Machine&, Job& job, auto&) { member(job) = wrong; });
    };
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.partition; })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.node_set; })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.qos; })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.request.gpu_type; })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.conditions.reservation; })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.partitions.emplace_back(); }))
        << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& { return job.alternative_sets.emplace_back(); }))
        << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& {
      return job.conditions.licences.emplace_back(0, 1).first;
    })) << wrong;
    EXPECT_TRUE(refuses_job([](Job& job) -> int& {
      return job.conditions.dependencies.emplace_back(Dependency{Dependency::Kind::after, {0}})
          .jobs[0];
    })) << wrong;
    EXPECT_TRUE(refused([&](Machine& machine, Job&, auto&) { machine.qos[0].preempts = {wrong}; }));
    EXPECT_TRUE(refused([&](Machine& machine, Job&, auto&) { machine.partitions[0].qos = wrong; }));
    EXPECT_TRUE(refused([&](Machine&, Job&, auto& accounts) { accounts[1].parent = wrong; }));
    EXPECT_TRUE(refused([&](Machine&, Job& job, auto&) {
      job.running_state = RunningState{0, {{{wrong == 1 ? 2 : wrong, 1, 0}}, {}}};
    }));
  }
  EXPECT_TRUE(refused([](Machine&, Job& job, auto&) { job.association = 2; }));
  EXPECT_TRUE(refused([](Machine&, Job&, auto& accounts) { accounts[1].parent = -1; }));
  EXPECT_TRUE(refused([](Machine&, Job&, auto& accounts) { accounts[0].parent = 0; }));
  EXPECT_TRUE(refused([](Machine& machine, Job&, auto&) { machine.node_cores = {4}; }));
  EXPECT_TRUE(refused([](Machine& machine, Job&, auto&) { machine.node_gpus = {{}}; }));
  EXPECT_TRUE(refused([](Machine& machine, Job&, auto&) { machine.partitions.clear(); }));
}

}  // namespace
}  // namespace cosched::slurm
