#include <gtest/gtest.h>

#include "cosched/slurm/select/gang.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

const Scenario three_nodes = suspending(tiers_of({4, 2, 8}, {1, 2}), {});

TEST(SlurmCoreMap, CoresAreNumberedNodeAfterNode) {
  const CoreMap map(three_nodes);
  EXPECT_EQ(map.first(0), 0);
  EXPECT_EQ(map.last(0), 4);
  EXPECT_EQ(map.first(2), 6);
  EXPECT_EQ(map.last(2), 14);
}

TEST(SlurmCoreMap, TakenByAnyPartition) {
  CoreMap map(three_nodes);
  map.take(0, nodes_from(0, 4, 14));
  map.take(1, nodes_from(2, 6, 14));
  EXPECT_EQ(map.of(0).list(), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(map.taken().list(), (Nodes{0, 1, 2, 3, 4, 5}));
  map.give(0, nodes_from(0, 4, 14));
  EXPECT_EQ(map.taken().list(), (Nodes{2, 3, 4, 5}));
}

TEST(SlurmCoreMap, TheLowestThatAreFree) {
  const CoreMap map(three_nodes);
  NodeBits taken(14);
  for (const int core : {0, 2, 7}) taken.add(core);
  EXPECT_EQ(map.lowest({{0, 2, 0}, {2, 3, 0}}, taken).list(), (Nodes{1, 3, 6, 8, 9}));
  EXPECT_EQ(map.lowest({{1, 2, 0}}, taken).list(), (Nodes{4, 5}));
  EXPECT_EQ(map.lowest({{0, 3, 0}}, taken).list(), (Nodes{1, 3}));  // none of the next node
}

}  // namespace
}  // namespace cosched::slurm
