#include "cosched/opt/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "cosched/opt/min_cost_flow.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

double best_matching(int vertices, const std::vector<WeightedEdge>& edges, unsigned used) {
  double best = 0;
  for (const WeightedEdge& edge : edges) {
    const unsigned both = 1U << edge.from | 1U << edge.to;
    if (used & both) continue;
    best = std::max(best, edge.weight + best_matching(vertices, edges, used | both));
  }
  return best;
}

double weight_of(const std::vector<int>& partner, const std::vector<WeightedEdge>& edges) {
  double weight = 0;
  int matched = 0;
  for (std::size_t v = 0; v < partner.size(); ++v) {
    if (partner[v] < 0) continue;
    ++matched;
    EXPECT_EQ(partner[partner[v]], static_cast<int>(v));
  }
  for (const WeightedEdge& edge : edges)
    if (partner[edge.from] == edge.to) {
      weight += edge.weight;
      matched -= 2;
    }
  EXPECT_EQ(matched, 0);  // only along edges
  return weight;
}

TEST(Matching, EqualsEveryMatching) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const int vertices = static_cast<int>(rng.between(1, 7));
    std::vector<WeightedEdge> edges;
    for (int i = 0; i < vertices; ++i)
      for (int j = i + 1; j < vertices; ++j)
        if (rng.below(4) > 0) edges.push_back({i, j, rng.uniform() - 0.2});
    const auto partner = maximum_weight_matching(vertices, edges);
    EXPECT_NEAR(weight_of(partner, edges), best_matching(vertices, edges, 0), 1e-12);
  }
}

TEST(Matching, OddCyclesAndNothingAtAll) {
  EXPECT_EQ(maximum_weight_matching(3, {}), (std::vector<int>{-1, -1, -1}));
  EXPECT_EQ(maximum_weight_matching(2, {{0, 1, -1}}), (std::vector<int>{-1, -1}));
  const std::vector<WeightedEdge> pentagon{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}};
  EXPECT_EQ(weight_of(maximum_weight_matching(5, pentagon), pentagon), 2);
}

TEST(Matching, WeightsOfAnySize) {
  for (const double scale : {1e-300, 1.0, 1e300}) {
    const std::vector<WeightedEdge> path{{0, 1, 2 * scale}, {1, 2, 3 * scale}, {2, 3, 2 * scale}};
    EXPECT_EQ(maximum_weight_matching(4, path), (std::vector<int>{1, 0, 3, 2}));
  }
}

}  // namespace
}  // namespace cosched::opt
