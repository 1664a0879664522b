#include "cosched/cluster/slurm/allocations.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::cluster::slurm {
namespace {

TEST(SlurmAllocations, NodesAreBusyThenCleaningThenIdle) {
  const Scenario scenario = scenario_of(
      plain_machine(4), {plain_job(0, 2, 100), plain_job(0, 1, 30), plain_job(0, 1, 30)});
  Allocations of(scenario);
  EXPECT_EQ(of.up().count(), 4);
  of.start(0, nodes_from(0, 2, 4), 5);
  of.start(2, nodes_from(3, 4, 4), 6);
  of.start(1, nodes_from(2, 3, 4), 6);
  EXPECT_EQ(of.due(0), 105);
  EXPECT_EQ(of.running(), (Nodes{1, 2, 0}));  // by due, then number
  EXPECT_EQ(of.busy().list(), (Nodes{0, 1, 2, 3}));
  of.end(0, 40);
  EXPECT_EQ(of.running(), (Nodes{1, 2}));
  EXPECT_EQ(of.busy().list(), (Nodes{2, 3}));
  EXPECT_EQ(of.cleaning().list(), (Nodes{0, 1}));
  EXPECT_TRUE(of.ended(0));
  EXPECT_TRUE(of.completing_since(40));
  EXPECT_FALSE(of.completing_since(41));
  const auto changes = of.changes();
  of.clean(0);
  EXPECT_FALSE(of.cleaning().any());
  EXPECT_FALSE(of.completing_since(0));
  EXPECT_GT(of.changes(), changes);
}

TEST(SlurmAllocations, CoresAreTakenNodeByNode) {
  Machine machine = plain_machine(3);
  machine.node_cores = {4, 4, 4};
  std::vector<Job> jobs{plain_job(0, 1, 100), plain_job(0, 1, 100)};
  jobs[0].cpus = 6;
  jobs[1].cpus = 5;
  const Scenario scenario = scenario_of(machine, jobs);
  Allocations of(scenario);
  of.start(0, nodes_from(0, 2, 3), 0);
  EXPECT_EQ(of.cores(0), (Nodes{4, 2}));
  EXPECT_EQ(of.free_cores(), (Nodes{0, 2, 4}));
  EXPECT_EQ(of.busy().list(), (Nodes{0}));
  of.start(1, nodes_from(1, 3, 3), 0);
  EXPECT_EQ(of.cores(1), (Nodes{2, 3}));
  EXPECT_EQ(of.busy().list(), (Nodes{0, 1}));
  of.end(0, 10);
  EXPECT_EQ(of.free_cores(), (Nodes{4, 2, 1}));
  EXPECT_FALSE(of.busy().any());
}

}  // namespace
}  // namespace cosched::cluster::slurm
