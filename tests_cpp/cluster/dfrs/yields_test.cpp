#include "cosched/cluster/dfrs/yields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::dfrs {
namespace {

struct Case {
  std::vector<NodeList> where;
  std::vector<double> cpu;
  int nodes = 0;

  Mapping mapping() const {
    Mapping view{nodes, cpu, {}};
    for (const auto& list : where) view.where.push_back(&list);
    return view;
  }
};

Case random_case(Rng& rng) {
  Case made;
  made.nodes = 1 + static_cast<int>(rng.below(8));
  const int jobs = 1 + static_cast<int>(rng.below(12));
  for (int j = 0; j < jobs; ++j) {
    std::vector<int> nodes;
    for (std::uint64_t k = 0; k <= rng.below(4); ++k)
      nodes.push_back(static_cast<int>(rng.below(made.nodes)));
    std::sort(nodes.begin(), nodes.end());
    made.where.emplace_back(nodes);
    made.cpu.push_back(rng.below(2) ? 0.25 * static_cast<double>(rng.between(1, 4))
                                    : 1 - rng.uniform());
  }
  return made;
}

std::vector<double> used(const Case& made, const std::vector<double>& yield) {
  std::vector<double> cpu(made.nodes, 0.0);
  for (std::size_t j = 0; j < yield.size(); ++j)
    for (const int node : made.where[j]) cpu[node] += yield[j] * made.cpu[j];
  return cpu;
}

void expect_feasible(const Case& made, const std::vector<double>& yield) {
  for (const double cpu : used(made, yield)) EXPECT_LE(cpu, 1 + 1e-9);
  for (const double y : yield) {
    EXPECT_GE(y, -1e-12);
    EXPECT_LE(y, 1 + 1e-12);
  }
}

// LP over shares: jobs in `fixed` have their value, the others y = max(0, slope z - offset)
// is not linear, so for shares this only handles offset 0: maximise z or a weighted sum.
lp::Model node_model(const Case& made, const std::vector<double>& lower) {
  lp::Model model;
  for (std::size_t j = 0; j < made.cpu.size(); ++j) model.add_column(0, lower[j], 1);
  for (int node = 0; node < made.nodes; ++node) model.add_row(-kInfinity, 1);
  for (std::size_t j = 0; j < made.cpu.size(); ++j)
    for (int node = 0; node < made.nodes; ++node) {
      const auto count = std::count(made.where[j].begin(), made.where[j].end(), node);
      if (count) model.add_entry(node, static_cast<int>(j), count * made.cpu[j]);
    }
  return model;
}

TEST(Yields, BaseIsTheGreatestCommonYield) {
  const Case made{{{0, 1}, {1}, {2}}, {0.75, 0.75, 0.5}, 3};
  EXPECT_EQ(base_yields(made.mapping()), (std::vector<double>{1 / 1.5, 1 / 1.5, 1 / 1.5}));
  const Case light{{{0}, {1}}, {1, 1}, 2};
  EXPECT_EQ(base_yields(light.mapping()), (std::vector<double>{1, 1}));
}

TEST(Yields, MaxMinOfAHandExample) {
  // Node 0: jobs 0, 1, 2 of need 1 -> 1/3 each; node 1: jobs 2 and 3 -> 3 gets 2/3.
  const Case made{{{0}, {0}, {0, 1}, {1}, {2}}, {1, 1, 1, 1, 1}, 3};
  const auto yield = max_min_yields(made.mapping());
  const std::vector<double> expected{1.0 / 3, 1.0 / 3, 1.0 / 3, 2.0 / 3, 1};
  for (int j = 0; j < 5; ++j) EXPECT_NEAR(yield[j], expected[j], 1e-12);
}

// Max-min characterisation: each job has yield 1, or a full node where no other job has more.
TEST(Yields, MaxMinHasABottleneckForEachJob) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const Case made = random_case(rng);
    const auto yield = max_min_yields(made.mapping());
    expect_feasible(made, yield);
    const auto cpu = used(made, yield);
    for (std::size_t j = 0; j < yield.size(); ++j) {
      bool stopped = yield[j] > 1 - 1e-9;
      for (const int node : made.where[j]) {
        bool greatest = cpu[node] > 1 - 1e-9;
        for (std::size_t i = 0; i < yield.size(); ++i)
          if (std::count(made.where[i].begin(), made.where[i].end(), node))
            greatest &= yield[i] <= yield[j] + 1e-9;
        stopped |= greatest;
      }
      EXPECT_TRUE(stopped) << "job " << j << " could rise";
    }
    const auto base = base_yields(made.mapping());
    EXPECT_NEAR(*std::min_element(yield.begin(), yield.end()), base[0], 1e-9);
  }
}

// The same for shares max(0, slope z - offset): the level z of a job must be stopped.
TEST(Yields, MaxMinSharesHaveABottleneckForEachJob) {
  Rng rng(8);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const Case made = random_case(rng);
    std::vector<double> slope, offset;
    for (std::size_t j = 0; j < made.cpu.size(); ++j) {
      slope.push_back(1 + 5 * rng.uniform());
      offset.push_back(rng.below(3) ? 3 * rng.uniform() : 0);
    }
    const auto yield = max_min_shares(made.mapping(), slope, offset);
    expect_feasible(made, yield);
    const auto cpu = used(made, yield);
    const auto level = [&](std::size_t j) { return (yield[j] + offset[j]) / slope[j]; };
    for (std::size_t j = 0; j < yield.size(); ++j) {
      bool stopped = yield[j] > 1 - 1e-9;
      for (const int node : made.where[j]) {
        bool greatest = cpu[node] > 1 - 1e-9;
        for (std::size_t i = 0; i < yield.size(); ++i)  // jobs with share 0 take nothing
          if (yield[i] > 1e-9 && std::count(made.where[i].begin(), made.where[i].end(), node))
            greatest &= level(i) <= level(j) + 1e-9;
        stopped |= greatest;
      }
      EXPECT_TRUE(stopped) << "job " << j << " could rise";
    }
  }
}

TEST(Yields, BestAverageEqualsTheWholeLp) {
  Rng rng(9);
  int tight = 0;
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const Case made = random_case(rng);
    std::vector<double> lower = base_yields(made.mapping()), weight(made.cpu.size(), 1.0);
    if (round % 2)
      for (std::size_t j = 0; j < weight.size(); ++j) {
        weight[j] = 0.1 + rng.uniform();
        lower[j] *= rng.uniform();
      }
    const auto yield = best_average_yields(made.mapping(), lower, weight);
    expect_feasible(made, yield);
    for (std::size_t j = 0; j < lower.size(); ++j) EXPECT_GE(yield[j], lower[j] - 1e-9);
    lp::Model model = node_model(made, lower);
    for (std::size_t j = 0; j < weight.size(); ++j) model.cost[j] = -weight[j];
    // The base yields fill a node exactly: leave the LP room for its own rounding.
    for (double& upper : model.row_upper) upper += 1e-12;
    const auto solution = lp::solve_glpk(model);
    ASSERT_EQ(solution.status, lp::Status::optimal);
    const double value = std::inner_product(weight.begin(), weight.end(), yield.begin(), 0.0);
    EXPECT_NEAR(value, -solution.objective, 1e-7);
    tight += value < std::accumulate(weight.begin(), weight.end(), 0.0) - 1e-6;
  }
  EXPECT_GT(tight, 200);
}

}  // namespace
}  // namespace cosched::cluster::dfrs
