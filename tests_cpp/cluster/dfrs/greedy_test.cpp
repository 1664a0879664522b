#include "cosched/cluster/dfrs/greedy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/cluster/model/units.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

// Section 4.2, task by task.
std::vector<int> plain_greedy(std::vector<DfrsMachine::NodeAccount> nodes,
                              const DfrsMachine::Job& job) {
  std::vector<int> chosen_nodes;
  for (int k = 0; k < job.tasks; ++k) {
    int best = -1;
    for (int node = 0; node < static_cast<int>(nodes.size()); ++node)
      if (nodes[node].memory_used + job.memory_need <= kMemoryLimit &&
          (best < 0 || nodes[node].cpu_load < nodes[best].cpu_load))
        best = node;
    if (best < 0) return {};
    nodes[best].memory_used += job.memory_need;
    nodes[best].cpu_load += job.cpu_need;
    chosen_nodes.push_back(best);
  }
  std::sort(chosen_nodes.begin(), chosen_nodes.end());
  return chosen_nodes;
}

TEST(Greedy, EqualsThePlainAlgorithm) {
  Rng rng(6);
  int placed_jobs = 0;
  for (int round = 0; round < 2000; ++round) {
    SHOW_ON_FAILURE(round);
    std::vector<DfrsMachine::NodeAccount> nodes(1 + rng.below(20));
    for (auto& node : nodes) {
      node.memory_used = memory_units(0.1 * static_cast<double>(rng.below(11)));
      node.cpu_load = cpu_units(0.25 * static_cast<double>(rng.below(9)));
    }
    DfrsMachine::Job job{};
    job.tasks = 1 + static_cast<int>(rng.below(12));
    job.memory_need = memory_units(0.1 * static_cast<double>(rng.between(1, 6)));
    job.cpu_need = cpu_units(0.25 * static_cast<double>(rng.between(1, 4)));
    const auto expected = plain_greedy(nodes, job);
    EXPECT_EQ(choose_greedy_nodes(nodes, job), expected);
    EXPECT_EQ(count_free_slots(nodes, job.memory_need) >= job.tasks, !expected.empty());
    placed_jobs += !expected.empty();
  }
  EXPECT_GT(placed_jobs, 500);
  EXPECT_LT(placed_jobs, 1800);
}

TEST(Greedy, TenTenthsOfMemoryFitWhateverTheHistory) {
  std::vector<DfrsMachine::NodeAccount> nodes(1);
  DfrsMachine::Job job{};
  job.tasks = 10;
  job.memory_need = memory_units(0.1);
  job.cpu_need = cpu_units(0.3);
  EXPECT_EQ(choose_greedy_nodes(nodes, job).size(), 10u);
  job.tasks = 11;
  EXPECT_TRUE(choose_greedy_nodes(nodes, job).empty());
}

TEST(Greedy, EqualLoadsTieWhateverTheyAreSumsOf) {
  // 0.8 + 0.1 on node 0, 0.7 + 0.2 on node 1: equal, so the lowest node.  Sums of doubles, and
  // of binary fractions of any length, differ in their last digit.
  DfrsMachine::Job job{};
  job.tasks = 1;
  job.memory_need = memory_units(0.1);
  for (const double scale : {0.1, 0.01, 0.00001, 1.0 / 12, 1.0 / 28, 1.0 / 48}) {
    std::vector<DfrsMachine::NodeAccount> nodes(2);
    nodes[0].cpu_load = cpu_units(8 * scale) + cpu_units(scale);
    nodes[1].cpu_load = cpu_units(7 * scale) + cpu_units(2 * scale);
    job.cpu_need = cpu_units(scale);
    EXPECT_EQ(choose_greedy_nodes(nodes, job), NodeList{0}) << scale;
    std::swap(nodes[0], nodes[1]);
    EXPECT_EQ(choose_greedy_nodes(nodes, job), NodeList{0}) << scale;
  }
}

}  // namespace
}  // namespace cosched::cluster::dfrs
