#include "cosched/slurm/select/candidates.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/free_resources.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

struct Chosen {
  Nodes nodes, cores;
  bool operator==(const Chosen& other) const {
    return nodes == other.nodes && cores == other.cores;
  }
};

// Among all nodes of the machine, where others have so many cores; empty: none.
Chosen chosen(const Machine& machine, const Job& job, const Nodes& used_cores = {},
              Shares* all = nullptr) {
  FreeResources free(machine);
  for (std::size_t node = 0; node < used_cores.size(); ++node)
    if (used_cores[node] > 0) free.allocate({{{static_cast<int>(node), used_cores[node], 0}}, {}});
  Weights weights;
  for (int node = 0; node < machine.nodes; ++node)
    weights.push_back(scheduling_weight(
        machine.node_weight.empty() ? 0 : machine.node_weight[static_cast<std::size_t>(node)]));
  Shares shares;
  Chosen choice;
  const NodeBits nodes = nodes_from(0, machine.nodes, machine.nodes);
  Candidates candidates;
  candidates.gather(machine, job, nodes, free, weights);
  if (!candidates.choose(free, weights, shares)) return choice;
  for (const Share& share : shares.nodes) {
    choice.nodes.push_back(share.node);
    choice.cores.push_back(share.cores);
  }
  if (all) *all = shares;
  return choice;
}

Job on_nodes(int cores, int nodes) {
  Job job = shared_job(cores);
  job.nodes = job.request.max_nodes = nodes;
  return job;
}

const Machine kFour = shared_machine({4, 4, 4, 4});

TEST(SlurmChoose, TheRunThatSufficesWithTheFewestCores) {
  // Runs 0-1 (5 cores), 3 (4): a node without cores parts them.
  EXPECT_EQ(chosen(kFour, shared_job(3), {0, 3, 4, 0}), (Chosen{{3}, {3}}));
  EXPECT_EQ(chosen(kFour, shared_job(5), {0, 3, 4, 0}), (Chosen{{0, 1}, {4, 1}}));
  // None suffices: the one with the most, then the rest.
  EXPECT_EQ(chosen(kFour, shared_job(7), {0, 3, 4, 0}), (Chosen{{0, 1, 3}, {4, 1, 2}}));
  EXPECT_EQ(chosen(kFour, shared_job(10), {0, 3, 4, 0}), Chosen{});
  // The first of equals.
  EXPECT_EQ(chosen(kFour, shared_job(4), {0, 4, 4, 0}), (Chosen{{0}, {4}}));
  EXPECT_EQ(chosen(kFour, shared_job(6), {0, 4, 4, 0}), (Chosen{{0, 3}, {4, 2}}));
}

TEST(SlurmChoose, OneNodeThatSufficesWithTheFewest) {
  EXPECT_EQ(chosen(kFour, shared_job(2), {0, 1, 2, 0}), (Chosen{{2}, {2}}));
  EXPECT_EQ(chosen(kFour, shared_job(2), {0, 2, 2, 0}), (Chosen{{1}, {2}}));
  // Without one it spreads from the lowest on.
  EXPECT_EQ(chosen(kFour, shared_job(4), {2, 2, 2, 2}), (Chosen{{0, 1}, {2, 2}}));
}

TEST(SlurmChoose, SoManyNodesEachHasACore) {
  EXPECT_EQ(chosen(kFour, on_nodes(4, 2)), (Chosen{{0, 1}, {3, 1}}));
  EXPECT_EQ(chosen(kFour, on_nodes(8, 2)), (Chosen{{0, 1}, {4, 4}}));
  EXPECT_EQ(chosen(kFour, on_nodes(9, 2)), Chosen{});
  // A run of one node does not suffice for two, however many cores it has.
  EXPECT_EQ(chosen(kFour, on_nodes(2, 2), {0, 4, 3, 3}), (Chosen{{2, 3}, {1, 1}}));
  // But behind one that suffices, it comes first if it has more.
  EXPECT_EQ(chosen(kFour, on_nodes(2, 2), {3, 3, 4, 0}), (Chosen{{0, 3}, {1, 1}}));
  EXPECT_EQ(chosen(shared_machine({4, 4, 4, 4, 4}), on_nodes(4, 2), {3, 3, 4, 0, 0}),
            (Chosen{{3, 4}, {3, 1}}));
}

TEST(SlurmChoose, TheLastNodeMustBeLargeEnough) {
  // Two nodes of 1, 4 and 4 cores: the first is skipped only once it was in the way.
  EXPECT_EQ(chosen(kFour, on_nodes(8, 2), {3, 0, 0, 4}), (Chosen{{1, 2}, {4, 4}}));
  EXPECT_EQ(chosen(kFour, on_nodes(5, 2), {3, 2, 0, 4}), (Chosen{{0, 2}, {1, 4}}));
  // All that are smaller than the largest may be in the way.
  EXPECT_EQ(chosen(kFour, on_nodes(8, 2), {1, 1, 0, 0}), (Chosen{{2, 3}, {4, 4}}));
}

TEST(SlurmChoose, NoMoreNodesThanTasks) {
  Job job = shared_job(4);
  job.request.tasks = 2;
  job.request.task_cores = 2;
  EXPECT_EQ(chosen(kFour, job, {2, 2, 4, 4}), (Chosen{{0, 1}, {2, 2}}));
  job.request.tasks = 1;
  EXPECT_EQ(chosen(kFour, job, {2, 2, 4, 4}), Chosen{});
}

TEST(SlurmChoose, LessWeightComesFirstAndIsUsedUp) {
  Machine machine = kFour;
  machine.node_weight = {5, 1, 1, 5};
  EXPECT_EQ(chosen(machine, shared_job(4)), (Chosen{{1}, {4}}));
  EXPECT_EQ(chosen(machine, shared_job(10)), (Chosen{{0, 1, 2}, {2, 4, 4}}));
  // A dear run that would do alone comes behind cheap ones that would not.
  machine = shared_machine({4, 4, 4, 4, 4});
  machine.node_weight = {2, 1, 2, 2, 2};
  EXPECT_EQ(chosen(machine, on_nodes(12, 3)), (Chosen{{1, 2, 3}, {4, 4, 4}}));
}

TEST(SlurmChoose, GpusFirstWhereThereAreMore) {
  Machine machine = kFour;
  machine.node_gpus = {{1, 1, 4, 4}};
  Job job = shared_job(1);
  job.request.gpus = 2;
  EXPECT_EQ(chosen(machine, job), (Chosen{{2}, {1}}));
  job.request.gpus = 1;  // all are as near
  EXPECT_EQ(chosen(machine, job), (Chosen{{0}, {1}}));
}

TEST(SlurmChoose, EveryNodeOfAJobGivesItsGpus) {
  Machine machine = kFour;
  machine.node_gpus = {{0, 4, 4, 2}};
  Job job = shared_job(2);
  job.request.gpus = 6;
  Shares shares;
  EXPECT_EQ(chosen(machine, job, {}, &shares), (Chosen{{1, 2}, {1, 1}}));
  ASSERT_EQ(shares.gpus.size(), 2u);
  EXPECT_EQ(shares.gpus[0].count, 4);
  EXPECT_EQ(shares.gpus[1].count, 2);
  // One is left for each node behind.
  Job pair = on_nodes(2, 2);
  pair.request.gpus = 4;
  EXPECT_EQ(chosen(machine, pair, {}, &shares), (Chosen{{1, 2}, {1, 1}}));
  ASSERT_EQ(shares.gpus.size(), 2u);
  EXPECT_EQ(shares.gpus[0].count, 3);
  EXPECT_EQ(shares.gpus[1].count, 1);
  // The first run has all cores: of the next, the node with the fewest free ones that completes the
  // sum.
  machine = shared_machine({4, 4, 4, 4, 4});
  machine.node_gpus = {{4, 0, 4, 4, 4}};
  EXPECT_EQ(chosen(machine, job, {0, 0, 1, 4, 2}), (Chosen{{0, 4}, {1, 1}}));
  job.request.gpus = 11;
  EXPECT_EQ(chosen(machine, job), Chosen{});
}

// Node 2 has more GPUs and comes first: it has all cores but one for node 0.
TEST(SlurmChoose, CoresThatAreNoMoreThanRequestedStayAsTheyWereTaken) {
  Machine machine = kFour;
  machine.node_gpus = {{1, 0, 2, 0}};
  Job job = on_nodes(4, 2);
  job.request.gpus = 3;
  EXPECT_EQ(chosen(machine, job), (Chosen{{0, 2}, {1, 3}}));
}

// Node 2 is there for its GPU alone: with a core of it there would be seven.
TEST(SlurmChoose, CoresBeyondTheRequestAreLaidOutAnewInOrder) {
  Machine machine = kFour;
  machine.node_gpus = {{1, 1, 1, 1}};
  Job job = shared_job(6);
  job.request.gpus = 3;
  EXPECT_EQ(chosen(machine, job), (Chosen{{0, 1, 2}, {4, 1, 1}}));
}

TEST(SlurmChoose, GpusCountAsCoresWhereNodesThatHaveLittleAreLeftOut) {
  Machine machine = shared_machine({4, 4, 4});
  machine.node_gpus = {{1, 4, 2}};
  machine.node_weight = {1, 2, 2};  // node 0 comes first, and with it there are 5 at most
  Job job = on_nodes(2, 2);
  job.request.gpus = 6;
  EXPECT_EQ(chosen(machine, job), (Chosen{{1, 2}, {1, 1}}));
}

TEST(SlurmChoose, NodesThatHaveAsMuchAsAnyAreNotLeftOut) {
  Machine machine = shared_machine({3, 2, 2});
  machine.node_gpus = {{2, 3, 3}};
  machine.node_weight = {1, 2, 2};  // node 0 comes first: without it there would be enough
  Job job = on_nodes(3, 2);
  job.request.gpus = 6;
  EXPECT_EQ(chosen(machine, job), Chosen{});
}

TEST(SlurmChoose, MemoryIsOfTheCoresTaken) {
  Machine machine = kFour;
  machine.node_memory = {900, 900, 900, 900};
  Job job = shared_job(4);
  job.request.memory = 300;
  job.request.is_memory_by_core = true;
  Shares shares;
  EXPECT_EQ(chosen(machine, job, {}, &shares), (Chosen{{0, 1}, {3, 1}}));
  EXPECT_EQ(shares.nodes[0].memory, 900);
  EXPECT_EQ(shares.nodes[1].memory, 300);
}

TEST(SlurmChoose, AnExclusiveJobHasAllCores) {
  Job job = on_nodes(2, 2);
  job.request.is_exclusive = true;
  EXPECT_EQ(chosen(kFour, job, {0, 1, 0, 0}), (Chosen{{2, 3}, {4, 4}}));
}

// Candidates that are renewed as jobs go are those that would be gathered anew.
TEST(SlurmChoose, RenewedIsGatheredAnew) {
  constexpr int kCount = 70;
  Rng rng(5);
  int chosen = 0;
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    Machine machine = shared_machine(std::vector<int>(kCount, 4));
    machine.node_memory.assign(kCount, 100);
    machine.node_gpus = {std::vector<int>(kCount, static_cast<int>(rng.below(3)))};
    Job job = on_nodes(static_cast<int>(rng.between(1, 12)), static_cast<int>(rng.between(1, 3)));
    job.request.max_nodes = rng.below(2) ? job.nodes : kAnyNodes;
    job.request.memory = 20 * rng.between(0, 3);
    job.request.gpus = rng.below(3) == 0 ? 1 : 0;
    job.request.is_exclusive = rng.below(4) == 0;
    FreeResources free(machine);
    std::vector<Shares> running;
    for (int k = 0; k < 150; ++k) {
      const int node = static_cast<int>(rng.below(kCount));
      const int cores = std::min(free.node(node).cores, 2);
      if (cores == 0 || free.node(node).memory < 25) continue;
      running.push_back({{{node, cores, 25}}, {}});
      free.allocate(running.back());
    }
    const NodeBits nodes = some_nodes(rng, kCount);
    Weights updated_weights(kCount, scheduling_weight(0)), gathered_weights = updated_weights;
    Candidates renewed, gathered;
    renewed.gather(machine, job, nodes, free, updated_weights);
    for (; !running.empty(); running.pop_back()) {
      free.release(running.back());
      for (const Share& share : running.back().nodes)
        if (nodes.has(share.node)) renewed.update(share.node, free, updated_weights);
      gathered.gather(machine, job, nodes, free, gathered_weights);
      EXPECT_EQ(updated_weights, gathered_weights);
      Shares first, second;
      const bool is_enough = renewed.choose(free, updated_weights, first);
      ASSERT_EQ(is_enough, gathered.choose(free, gathered_weights, second));
      if (!is_enough) continue;
      ++chosen;
      ASSERT_EQ(first.nodes.size(), second.nodes.size());
      for (std::size_t k = 0; k < first.nodes.size(); ++k) {
        EXPECT_EQ(first.nodes[k].node, second.nodes[k].node);
        EXPECT_EQ(first.nodes[k].cores, second.nodes[k].cores);
      }
    }
  }
  EXPECT_GT(chosen, 1000);
}

}  // namespace
}  // namespace cosched::slurm
