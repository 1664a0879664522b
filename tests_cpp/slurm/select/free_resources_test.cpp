#include "cosched/slurm/select/free_resources.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Two nodes of 4 cores and 100 MB; node 0 has two GPUs of type 0, both have one of type 1.
Machine machine_with_gpus() {
  Machine machine = shared_machine({4, 4});
  machine.node_memory = {100, 100};
  machine.node_gpus = {{2, 0}, {1, 1}};
  return machine;
}

const Shares kShares{{{0, 3, 60}, {1, 4, 10}}, {{0, 0, 2}}};

TEST(SlurmFreeResources, AnEmptyMachineHasAll) {
  const FreeResources free_resources(machine_with_gpus());
  EXPECT_EQ(free_resources.node(1).cores, 4);
  EXPECT_EQ(free_resources.node(1).memory, 100);
  EXPECT_EQ(free_resources.node(1).jobs, 0);
  EXPECT_EQ(free_resources.gpu_count(0, 0), 2);
  EXPECT_EQ(free_resources.gpu_count(0, -1), 3);
  EXPECT_EQ(free_resources.nodes_with_cores().to_list(), (Nodes{0, 1}));
}

TEST(SlurmFreeResources, AJobHasItsSharesUntilItReleasesThem) {
  FreeResources free_resources(machine_with_gpus());
  free_resources.allocate(kShares);
  EXPECT_EQ(free_resources.node(0).cores, 1);
  EXPECT_EQ(free_resources.node(0).memory, 40);
  EXPECT_EQ(free_resources.node(0).jobs, 1);
  EXPECT_EQ(free_resources.gpu_count(0, 0), 0);
  EXPECT_EQ(free_resources.nodes_with_cores().to_list(), Nodes{0});
  free_resources.release(kShares.nodes[1]);
  EXPECT_EQ(free_resources.nodes_with_cores().to_list(), (Nodes{0, 1}));
  free_resources.release(kShares.nodes[0]);
  free_resources.release(kShares.gpus[0]);
  EXPECT_EQ(free_resources.node(0).memory, 100);
  EXPECT_EQ(free_resources.gpu_count(0, 0), 2);
}

TEST(SlurmFreeResources, ASuspendedJobHasAllButItsCores) {
  FreeResources free_resources(machine_with_gpus());
  free_resources.allocate_except_cores(kShares);
  EXPECT_EQ(free_resources.node(0).cores, 4);
  EXPECT_EQ(free_resources.node(0).memory, 40);
  EXPECT_EQ(free_resources.node(0).jobs, 0);
  EXPECT_EQ(free_resources.gpu_count(0, 0), 0);
  free_resources.release_except_cores(kShares);
  EXPECT_EQ(free_resources.node(0).memory, 100);
}

TEST(SlurmFreeResources, ANodeIsCopiedAlone) {
  FreeResources free_resources(machine_with_gpus());
  const FreeResources empty_machine = free_resources;
  free_resources.allocate(kShares);
  free_resources.copy_node(0, empty_machine);
  EXPECT_EQ(free_resources.node(0).cores, 4);
  EXPECT_EQ(free_resources.gpu_count(0, 0), 2);
  EXPECT_EQ(free_resources.node(1).cores, 0);
}

}  // namespace
}  // namespace cosched::slurm
