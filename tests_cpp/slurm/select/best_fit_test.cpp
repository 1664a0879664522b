#include "cosched/slurm/select/best_fit.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "cosched/slurm/select/candidates.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

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

TEST(SlurmBestFit, TakesTheShortestRunThatSufficesElseTheLongestAndGoesOn) {
  Rng rng(3);
  BestFit best_fit;
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const int nodes = static_cast<int>(rng.between(1, 150));
    const NodeBits candidates = some_nodes(rng, nodes);
    if (!candidates.any()) continue;
    const int wanted = static_cast<int>(rng.between(1, candidates.count()));
    NodeBits chosen(nodes), expected(nodes);
    best_fit.choose(candidates, wanted, chosen);
    std::vector<char> free(nodes);
    for (const int node : candidates.to_list()) free[node] = 1;
    for (int missing = wanted; missing > 0;) {
      std::pair<int, int> best{0, 0};
      for (const auto& run : runs_of(free)) {
        const bool enough = run.first >= missing, had = best.first >= missing;
        if (enough == had ? (enough ? run.first < best.first : run.first > best.first) : enough)
          best = run;
      }
      for (int node = best.second; node < best.second + best.first; ++node) {
        if (missing > 0) {
          expected.add(node);
          --missing;
        }
        free[node] = 0;
      }
    }
    EXPECT_TRUE(chosen == expected);
    EXPECT_EQ(chosen.count(), wanted);
  }
}

TEST(SlurmBestFit, TheFirstOfEqualRuns) {
  NodeBits candidates = nodes_from(0, 3, 9), chosen(9);  // runs 0-2, 4-5, 7-8
  candidates |= nodes_from(4, 6, 9);
  candidates |= nodes_from(7, 9, 9);
  BestFit().choose(candidates, 2, chosen);
  EXPECT_EQ(chosen.to_list(), (std::vector<int>{4, 5}));
  BestFit().choose(candidates, 4,
                   chosen);  // none suffices: the longest whole, and of the next its lowest
  EXPECT_EQ(chosen.to_list(), (std::vector<int>{0, 1, 2, 4}));
}

}  // namespace
}  // namespace cosched::slurm
