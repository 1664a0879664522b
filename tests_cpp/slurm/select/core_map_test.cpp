#include "cosched/slurm/select/core_map.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/gang.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

const Scenario three_nodes = suspending(tiers_of({4, 2, 8}, {1, 2}), {});

TEST(SlurmCoreMap, CoresAreNumberedNodeAfterNode) {
  const CoreMap map(three_nodes);
  EXPECT_EQ(map.first_core(0), 0);
  EXPECT_EQ(map.end_core(0), 4);
  EXPECT_EQ(map.first_core(2), 6);
  EXPECT_EQ(map.end_core(2), 14);
}

TEST(SlurmCoreMap, TakenByAnyPartition) {
  CoreMap map(three_nodes);
  map.allocate(0, nodes_from(0, 4, 14));
  map.allocate(1, nodes_from(2, 6, 14));
  EXPECT_EQ(map.cores_of(0).to_list(), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(map.allocated_cores().to_list(), (Nodes{0, 1, 2, 3, 4, 5}));
  map.release(0, nodes_from(0, 4, 14));
  EXPECT_EQ(map.allocated_cores().to_list(), (Nodes{2, 3, 4, 5}));
}

TEST(SlurmCoreMap, TheLowestThatAreFree) {
  const CoreMap map(three_nodes);
  NodeBits excluded_cores(14);
  for (const int core : {0, 2, 7}) excluded_cores.add(core);
  EXPECT_EQ(map.lowest_free_cores({{0, 2, 0}, {2, 3, 0}}, excluded_cores).to_list(),
            (Nodes{1, 3, 6, 8, 9}));
  EXPECT_EQ(map.lowest_free_cores({{1, 2, 0}}, excluded_cores).to_list(), (Nodes{4, 5}));
  EXPECT_EQ(map.lowest_free_cores({{0, 3, 0}}, excluded_cores).to_list(),
            (Nodes{1, 3}));  // none of the next node
}

}  // namespace
}  // namespace cosched::slurm
