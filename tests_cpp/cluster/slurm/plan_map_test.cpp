#include "cosched/cluster/slurm/plan_map.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cosched/core/rng.hpp"

namespace cosched::cluster::slurm {
namespace {

constexpr int kNodes = 70;  // more than a word
constexpr Second kEnd = 200;

NodeBits some_nodes(Rng& rng, int nodes) {
  NodeBits bits(nodes);
  for (int node = 0; node < nodes; ++node)
    if (rng.below(3) == 0) bits.add(node);
  return bits;
}

TEST(SlurmMap, EqualsATableOfSeconds) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    NodeBits all(kNodes);
    all.add_range(0, kNodes);
    SlurmMap map;
    map.reset(0, kEnd, all);
    std::vector<std::set<int>> taken(kEnd + 100);
    for (int k = 0; k < 12; ++k) {
      const NodeBits nodes = some_nodes(rng, kNodes);
      const Second begin = 10 * rng.between(0, 18), end = begin + 10 * rng.between(0, 8);
      bool free = true;
      for (Second s = begin; s < std::min(end, kEnd); ++s)
        for (const int node : nodes.list()) free = free && !taken[s].count(node);
      if (end > begin) {
        EXPECT_EQ(map.free(nodes, begin, end), free);
      }
      map.reserve(nodes, begin, end, 10);
      for (Second s = begin; s < std::max(end, begin + 10); ++s)
        for (const int node : nodes.list()) taken[s].insert(node);
    }
    Second last = 0;
    for (int j = 0;;) {  // records follow each other and hold what nobody took
      EXPECT_EQ(map[j].begin, last);
      last = map[j].end;
      for (Second s = map[j].begin; s < map[j].end; ++s)
        for (int node = 0; node < kNodes; ++node)
          EXPECT_EQ(map[j].nodes.has(node), !taken[s].count(node)) << s << ' ' << node;
      if ((j = map[j].next) == 0) break;
    }
    EXPECT_EQ(last, kEnd);
  }
}

TEST(NodeBits, EqualsASet) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const int nodes = static_cast<int>(rng.between(1, 200));
    const NodeBits a = some_nodes(rng, nodes), b = some_nodes(rng, nodes);
    const auto list = a.list();
    const std::set<int> members(list.begin(), list.end());
    EXPECT_EQ(a.count(), static_cast<int>(members.size()));
    int common = 0;
    for (int node = 0; node < nodes; ++node) {
      EXPECT_EQ(a.has(node), members.count(node) == 1);
      common += a.has(node) && b.has(node);
    }
    EXPECT_EQ(a.count_common(b), common);
    EXPECT_EQ(a.meets(b), common > 0);
    EXPECT_EQ(a.within(b), common == a.count());
    NodeBits both = a;
    both &= b;
    EXPECT_EQ(both.count(), common);
    both |= a;
    EXPECT_TRUE(both == a);
    both -= a;
    EXPECT_FALSE(both.any());
  }
}

// All runs of consecutive candidates as (length, first).
std::vector<std::pair<int, int>> runs_of(const std::vector<char>& free) {
  std::vector<std::pair<int, int>> runs;
  for (int node = 0; node < static_cast<int>(free.size()); ++node) {
    if (!free[node]) continue;
    if (node == 0 || !free[node - 1]) runs.emplace_back(0, node);
    ++runs.back().first;
  }
  return runs;
}

TEST(BestFit, TakesTheShortestRunThatSufficesElseTheLongestAndGoesOn) {
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    const int nodes = static_cast<int>(rng.between(1, 150));
    const NodeBits candidates = some_nodes(rng, nodes);
    if (!candidates.any()) continue;
    const int wanted = static_cast<int>(rng.between(1, candidates.count()));
    NodeBits chosen(nodes), expected(nodes);
    best_fit(candidates, wanted, chosen);
    std::vector<char> free(nodes);
    for (const int node : candidates.list()) free[node] = 1;
    for (int left = wanted; left > 0;) {
      std::pair<int, int> best{0, 0};
      for (const auto& run : runs_of(free)) {
        const bool enough = run.first >= left, had = best.first >= left;
        if (enough == had ? (enough ? run.first < best.first : run.first > best.first) : enough)
          best = run;
      }
      for (int node = best.second; node < best.second + best.first; ++node) {
        if (left > 0) {
          expected.add(node);
          --left;
        }
        free[node] = 0;
      }
    }
    EXPECT_TRUE(chosen == expected);
    EXPECT_EQ(chosen.count(), wanted);
  }
}

}  // namespace
}  // namespace cosched::cluster::slurm
