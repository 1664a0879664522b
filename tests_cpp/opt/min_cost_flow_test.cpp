#include "cosched/opt/min_cost_flow.hpp"

#include <gtest/gtest.h>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/opt/matching.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

// Least cost by trying every flow.
double by_trying(const std::vector<FlowArc>& arcs, std::size_t a,
                 std::vector<std::int64_t> supply) {
  if (a == arcs.size()) {
    for (const std::int64_t s : supply)
      if (s != 0) return kInfinity;
    return 0;
  }
  double best = kInfinity;
  for (std::int64_t f = 0; f <= arcs[a].capacity; ++f) {
    best = std::min(best, static_cast<double>(f) * arcs[a].cost + by_trying(arcs, a + 1, supply));
    --supply[arcs[a].from];
    ++supply[arcs[a].to];
  }
  return best;
}

TEST(MinCostFlow, EqualsExhaustiveSearch) {
  Rng rng(1);
  int infeasible = 0;
  for (int round = 0; round < 400; ++round) {
    SHOW_ON_FAILURE(round);
    const int nodes = static_cast<int>(rng.between(2, 5));
    std::vector<FlowArc> arcs;
    for (int a = 0; a < 7; ++a) {
      const int from = static_cast<int>(rng.below(nodes)), to = static_cast<int>(rng.below(nodes));
      if (from == to) continue;
      const std::int64_t capacity = rng.between(0, 2);
      const double cost = 10 * rng.uniform() - 2;
      arcs.push_back({.from = from, .to = to, .capacity = capacity, .cost = cost});
    }
    std::vector<std::int64_t> supply(nodes, 0);
    supply[0] = rng.between(0, 3);
    supply[nodes - 1] = -supply[0];
    const double expected = by_trying(arcs, 0, supply);
    const auto flow = min_cost_flow(supply, arcs);
    ASSERT_EQ(flow.has_value(), expected < kInfinity) << round;
    infeasible += !flow;
    if (!flow) continue;
    double cost = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      EXPECT_GE((*flow)[a], 0);
      EXPECT_LE((*flow)[a], arcs[a].capacity);
      cost += static_cast<double>((*flow)[a]) * arcs[a].cost;
      supply[arcs[a].from] -= (*flow)[a];
      supply[arcs[a].to] += (*flow)[a];
    }
    for (const std::int64_t s : supply) EXPECT_EQ(s, 0);
    EXPECT_NEAR(cost, expected, 1e-9);
  }
  EXPECT_GT(infeasible, 20);
}

TEST(MinCostFlow, TakesLargeAndTinyCosts) {
  for (const double scale : {1e-200, 1.0, 1e200}) {
    const auto arc_of_cost = [](double cost) {
      return FlowArc{.from = 0, .to = 1, .capacity = 1, .cost = cost};
    };
    const auto flow = min_cost_flow({1, -1}, {arc_of_cost(3 * scale), arc_of_cost(2 * scale)});
    ASSERT_TRUE(flow);
    EXPECT_EQ(*flow, (std::vector<std::int64_t>{0, 1}));
  }
}

TEST(MinCostFlow, NothingToDo) {
  EXPECT_EQ(min_cost_flow({0, 0}, {}), std::vector<std::int64_t>{});
  const FlowArc arc{.from = 0, .to = 1, .capacity = 5, .cost = 1};
  EXPECT_EQ(min_cost_flow({0, 0}, {arc}), std::vector<std::int64_t>{0});
  EXPECT_FALSE(min_cost_flow({1, -1}, {}));
}

}  // namespace
}  // namespace cosched::opt
