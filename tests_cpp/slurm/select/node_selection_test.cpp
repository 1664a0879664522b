#include "cosched/slurm/select/node_selection.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Nodes 0 and 1 with 2 cores each, and node 3 with 4.
const std::vector<Candidate> kCandidates{{0, 2, 0, 1}, {1, 2, 0, 1}, {3, 4, 0, 1}};
const std::vector<WeightRun> kRuns{{0, 2, 4, 0}, {2, 3, 4, 0}};

// The nodes for a job of so many cores on at least so many nodes; none: there are too few.
Nodes select_nodes(int cores, int nodes, std::vector<WeightRun> runs = kRuns) {
  Job job = shared_job(cores);
  job.nodes = nodes;
  std::vector<Share> shares;
  Nodes chosen_nodes;
  if (!NodeSelection(job, kCandidates, runs, shares).run()) return chosen_nodes;
  for (const Share& share : shares) chosen_nodes.push_back(share.node);
  return chosen_nodes;
}

TEST(SlurmNodeSelection, TheFirstSufficientRunOfEquals) {
  EXPECT_EQ(select_nodes(2, 1), Nodes{0});
  EXPECT_EQ(select_nodes(4, 2), (Nodes{0, 1}));
}

TEST(SlurmNodeSelection, ARunOfLessWeightComesFirst) {
  std::vector<Candidate> candidates = kCandidates;
  candidates[2].weight = 0;
  std::vector<WeightRun> runs = kRuns;
  std::vector<Share> shares;
  ASSERT_TRUE(NodeSelection(shared_job(2), candidates, runs, shares).run());
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].node, 3);
}

TEST(SlurmNodeSelection, SeveralRunsWhereNoneSuffices) {
  EXPECT_EQ(select_nodes(8, 1), (Nodes{0, 1, 3}));
  EXPECT_EQ(select_nodes(9, 1), Nodes{});
}

TEST(SlurmNodeSelection, NoMoreNodesThanTasks) {
  Job job = shared_job(8);
  EXPECT_EQ(max_node_count(job), 8);
  job.request.max_nodes = 3;
  EXPECT_EQ(max_node_count(job), 3);
  job.request.tasks = 2;
  EXPECT_EQ(max_node_count(job), 2);
}

}  // namespace
}  // namespace cosched::slurm
