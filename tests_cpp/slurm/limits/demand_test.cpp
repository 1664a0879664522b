#include "cosched/slurm/limits/demand.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/limits/limit_rules.hpp"
#include "cosched/slurm/select/node_choice.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// A job has 3 of 4 cores, 5 of 8, 10 MB of each node and a GPU.
struct Given {
  Given() : choice(shares_from({{0, 3}, {1, 5}}, 2)) {
    machine.node_memory = {100, 100};
    machine.node_gpus = {{2, 2}};
    machine.partitions[0].billing = {2, 0.5};
    for (Share& share : choice.shares.nodes) share.memory = 10;
    choice.shares.gpus = {{0, 0, 1}};
  }
  Scenario scenario(const std::map<std::string, double>& parameters = {}) const {
    Job job = shared_job(8);
    job.qos = machine.qos.empty() ? -1 : 0;
    return scenario_of(machine, {job}, parameters);
  }
  Machine machine = shared_machine({4, 8});
  NodeChoice choice;
};

TEST(SlurmDemand, WhatAJobWasGiven) {
  Given of;
  // CPUs, memory, nodes, billing, GPUs, those of the type
  EXPECT_EQ(allocated_demand(of.scenario(), {0, 0}, of.choice).tres, (Amounts{8, 20, 2, 26, 1, 1}));
  of.machine.partitions[0].billing = {};
  EXPECT_EQ(allocated_demand(of.scenario(), {0, 0}, of.choice).tres, (Amounts{8, 20, 2, 8, 1, 1}));
}

TEST(SlurmDemand, ThePriceIsTheSumOrTheDearestTimesTheUsageFactor) {
  Given of;
  EXPECT_EQ(usage_per_second(of.scenario(), {0, 0}, of.choice), 2 * 8 + 0.5 * 20);
  EXPECT_EQ(usage_per_second(of.scenario({{"MAX_TRES", 1}}), {0, 0}, of.choice), 2 * 8);
  of.machine.qos.resize(1);
  of.machine.qos[0].usage_factor = 0.25;
  EXPECT_EQ(usage_per_second(of.scenario(), {0, 0}, of.choice), 26 * 0.25);
}

}  // namespace
}  // namespace cosched::slurm
