#include "cosched/slurm/model/references.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "cosched/core/errors.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// What a scenario is made of: two nodes with two GPUs of one type, a partition, a QOS, a licence, a
// set of nodes, a reservation and three associations; a job that refers to all of them, and one
// that runs.
struct ScenarioParts {
  Machine machine = shared_machine({4, 4});
  std::vector<Job> jobs = {shared_job(1), shared_job(1)};
  std::vector<AdminEvent> admin_events = {{.kind = AdminEvent::Kind::release, .time = 5, .job = 0}};
  std::vector<Association> accounts = {root_account(), account_below(0), user_below(1)};

  ScenarioParts() {
    machine.node_memory = {100, 100};
    machine.node_weight = {1, 1};
    machine.node_gpus = {{2, 2}};
    machine.node_sets = {nodes_from(0, 1, 2)};
    machine.licences = {3};
    machine.qos.resize(1);
    Job& job = jobs[0];
    job.partitions = {0};
    job.node_set = 0;
    job.association = 2;
    job.qos = 0;
    job.request.gpu_type = 0;
    job.conditions.reservation = 0;
    job.conditions.licences = {{0, 1}};
    job.conditions.dependencies = {{Dependency::Kind::after, {1}}};
    jobs[1].running_state =
        RunningState{.start = -5, .shares = {.nodes = {{1, 2, 10}}, .gpus = {{1, 0, 1}}}};
  }

  void build() const {
    const Scenario scenario(machine, jobs, to_settings({}),
                            {{.created_at = 0, .begin = 0, .end = 9, .nodes = NodeBits(2)}},
                            admin_events, accounts);
    require_references(scenario);
  }
};

// The message about a scenario of which one part is changed.
std::string message_of(const std::function<void(ScenarioParts&)>& change) {
  ScenarioParts parts;
  change(parts);
  try {
    parts.build();
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "no error";
}

TEST(SlurmReferences, WhatExistsIsAccepted) {
  EXPECT_EQ(message_of([](ScenarioParts&) {}), "no error");
}

TEST(SlurmReferences, AJobRefersToWhatExists) {
  const auto message_of_job = [](const std::function<void(Job&)>& change) {
    return message_of([&](ScenarioParts& parts) { change(parts.jobs[0]); });
  };
  EXPECT_EQ(message_of_job([](Job& job) { job.node_set = 1; }),
            "slurm: set of nodes 1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) {
              job.alternative_sets = {0, 1};
            }),
            "slurm: set of nodes 1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) { job.association = 3; }),
            "slurm: association 3: there are 3");
  EXPECT_EQ(message_of_job([](Job& job) { job.qos = 1; }), "slurm: QOS 1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) { job.qos = -2; }), "slurm: QOS -2: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) { job.request.gpu_type = 1; }),
            "slurm: type of GPUs 1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) { job.conditions.reservation = 1; }),
            "slurm: reservation 1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) {
              job.conditions.licences = {{-1, 1}};
            }),
            "slurm: licence -1: there are 1");
  EXPECT_EQ(message_of_job([](Job& job) {
              job.conditions.dependencies[0].jobs = {1, 2};
            }),
            "slurm: job to wait for 2: there are 2");
}

TEST(SlurmReferences, ARunningJobHasIncreasingNodesAndGpusOfTheMachine) {
  const auto message_of_shares = [](const Shares& shares) {
    return message_of([&](ScenarioParts& parts) { parts.jobs[1].running_state->shares = shares; });
  };
  const std::string nodes_message =
      "slurm: a running job: expected increasing nodes of the machine";
  EXPECT_EQ(message_of_shares({.nodes = {{0, 1, 0}, {1, 1, 0}}, .gpus = {}}), "no error");
  EXPECT_EQ(message_of_shares({.nodes = {{1, 1, 0}, {0, 1, 0}}, .gpus = {}}), nodes_message);
  EXPECT_EQ(message_of_shares({.nodes = {{1, 1, 0}, {1, 1, 0}}, .gpus = {}}), nodes_message);
  EXPECT_EQ(message_of_shares({.nodes = {{2, 1, 0}}, .gpus = {}}), nodes_message);
  EXPECT_EQ(message_of_shares({.nodes = {{0, -1, 0}}, .gpus = {}}), nodes_message);
  const std::string gpus_message = "slurm: a running job: GPUs that the machine does not have";
  EXPECT_EQ(message_of_shares({.nodes = {{0, 1, 0}}, .gpus = {{2, 0, 1}}}), gpus_message);
  EXPECT_EQ(message_of_shares({.nodes = {{0, 1, 0}}, .gpus = {{0, 1, 1}}}), gpus_message);
}

TEST(SlurmReferences, TablesByNodeHaveARowForEachNode) {
  const auto message_of_machine = [](const std::function<void(Machine&)>& change) {
    return message_of([&](ScenarioParts& parts) { change(parts.machine); });
  };
  EXPECT_EQ(message_of_machine([](Machine& machine) { machine.node_memory = {}; }), "no error");
  EXPECT_EQ(message_of_machine([](Machine& machine) { machine.node_memory = {1}; }),
            "slurm: memory of 1 nodes: expected 2");
  EXPECT_EQ(message_of_machine([](Machine& machine) {
              machine.node_weight = {1, 1, 1};
            }),
            "slurm: weights of 3 nodes: expected 2");
  EXPECT_EQ(message_of_machine([](Machine& machine) { machine.node_gpus = {{}}; }),
            "slurm: GPUs of 0 nodes: expected 2");
  EXPECT_EQ(message_of_machine([](Machine& machine) { machine.partitions[0].qos = 1; }),
            "slurm: QOS of a partition 1: there are 1");
  EXPECT_EQ(message_of_machine([](Machine& machine) { machine.qos[0].preempts = {1}; }),
            "slurm: QOS to preempt 1: there are 1");
}

TEST(SlurmReferences, AnAssociationComesAfterItsParent) {
  const auto message_of_parents = [](int first, int second, int third) {
    return message_of([&](ScenarioParts& parts) {
      parts.accounts[0].parent = first;
      parts.accounts[1].parent = second;
      parts.accounts[2].parent = third;
    });
  };
  EXPECT_EQ(message_of_parents(-1, 0, 0), "no error");
  const std::string expected = ": expected the root first, and each account before what is in it";
  EXPECT_EQ(message_of_parents(0, 0, 0), "slurm: association 0 below 0" + expected);
  EXPECT_EQ(message_of_parents(-1, 1, 0), "slurm: association 1 below 1" + expected);
  EXPECT_EQ(message_of_parents(-1, 0, -1), "slurm: association 2 below -1" + expected);
}

TEST(SlurmReferences, AnAdministratorReleasesAJobThatExists) {
  EXPECT_EQ(message_of([](ScenarioParts& parts) { parts.admin_events[0].job = 2; }),
            "slurm: job of an administrator 2: there are 2");
}

}  // namespace
}  // namespace cosched::slurm
