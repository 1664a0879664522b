#include "cosched/opt/max_length_flow.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/opt/matrix_game.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

struct Network {
  int nodes;
  std::vector<LengthArc> arcs;
  std::vector<char> endless;
};

// A chain of endless arcs keeps everything reachable; the rest is random.
Network random_network(Rng& rng, int nodes, int extra, bool integers) {
  Network network{nodes, {}, {}};
  const auto length = [&] { return integers ? rng.below(4) : 10 * rng.uniform(); };
  for (int node = 0; node + 1 < nodes; ++node) {
    network.arcs.push_back({.from = node, .to = node + 1, .length = static_cast<double>(length())});
    network.endless.push_back(1);
  }
  for (int k = 0; k < extra; ++k) {
    const int from = static_cast<int>(rng.below(nodes - 1));
    const int to = static_cast<int>(rng.between(from + 1, nodes - 1));
    network.arcs.push_back({.from = from, .to = to, .length = static_cast<double>(length())});
    network.endless.push_back(rng.uniform() < 0.2);
  }
  return network;
}

double by_glpk(const Network& network, const std::vector<double>& capacity, double demand) {
  lp::Model model;
  for (int node = 0; node < network.nodes; ++node) {
    const double out = node == 0 ? demand : node == network.nodes - 1 ? -demand : 0;
    model.add_row(out, out);
  }
  for (std::size_t a = 0; a < network.arcs.size(); ++a) {
    const int column =
        model.add_column(-network.arcs[a].length, 0, network.endless[a] ? kInfinity : capacity[a]);
    model.add_entry(network.arcs[a].from, column, 1);
    model.add_entry(network.arcs[a].to, column, -1);
  }
  return -lp::solve_glpk(model).objective;
}

// Any flow that fits: all of it along the chain.
std::vector<double> chain_flow(const Network& network, double demand) {
  std::vector<double> flow(network.arcs.size(), 0.0);
  std::fill(flow.begin(), flow.begin() + network.nodes - 1, demand);
  return flow;
}

TEST(LongestFlow, AgreesWithGlpkFromOneSetOfCapacitiesToTheNext) {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    const Network network =
        random_network(rng, 2 + static_cast<int>(rng.below(20)), 40, round % 2 == 0);
    MaxLengthFlow solver(network.nodes, network.arcs, network.endless);
    for (int call = 0; call < 6; ++call) {
      SHOW_ON_FAILURE(call);
      std::vector<double> capacity;
      for (std::size_t a = 0; a < network.arcs.size(); ++a)
        capacity.push_back(rng.uniform() < 0.2 ? 0 : 2 * rng.uniform());
      const double demand = 0.01 + 3 * rng.uniform();
      solver.solve(capacity, demand, chain_flow(network, demand));
      double value = 0;
      std::vector<double> balance(network.nodes, 0.0);
      for (std::size_t k = 0; k < network.arcs.size(); ++k) {
        const int a = static_cast<int>(k);
        const auto& [from, to, length] = network.arcs[k];
        value += length * solver.flow(a);
        balance[from] += solver.flow(a);
        balance[to] -= solver.flow(a);
        EXPECT_GE(solver.flow(a), -1e-12);
        if (!network.endless[k]) {
          EXPECT_LE(solver.flow(a), capacity[k] + 1e-12);
        }
        const double slack = solver.potential(to) - solver.potential(from) - length;
        if (network.endless[k] || solver.flow(a) < capacity[k] - 1e-9) {
          EXPECT_GE(slack, -1e-9);
        }
        if (solver.flow(a) > 1e-9) {
          EXPECT_LE(slack, 1e-9);
        }
      }
      EXPECT_NEAR(balance.front(), demand, 1e-12);
      for (int node = 1; node + 1 < network.nodes; ++node) EXPECT_NEAR(balance[node], 0, 1e-12);
      EXPECT_NEAR(value, by_glpk(network, capacity, demand), 1e-7 * (1 + value));
    }
  }
}

TEST(MatrixGame, AgreesWithGlpkAsColumnsArrive) {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    const int rows = 1 + round % 5;
    MatrixGame game(rows);
    lp::Model model;
    model.add_column(1, -kInfinity);
    for (int r = 0; r < rows; ++r) model.add_entry(model.add_row(0, kInfinity), 0, 1);
    const int sum = model.add_row(1, 1);
    for (int t = 0; t < 12; ++t) {
      SHOW_ON_FAILURE(t);
      const int column = model.add_column(0);
      model.add_entry(sum, column, 1);
      std::vector<double> entries;
      for (int r = 0; r < rows; ++r) {
        entries.push_back(round % 3 == 0 ? static_cast<double>(rng.below(4)) : 100 * rng.uniform());
        model.add_entry(r, column, -entries.back());
      }
      game.add_column(entries);
      game.solve();
      EXPECT_NEAR(game.value(), lp::solve_glpk(model).objective, 1e-7 * (1 + game.value()));
    }
    double weights = 0, prices = 0;
    for (const double weight : game.combination()) weights += weight;
    for (const double price : game.prices()) prices += price;
    EXPECT_NEAR(weights, 1, 1e-12);
    EXPECT_NEAR(prices, 1, 1e-12);
  }
}

}  // namespace
}  // namespace cosched::opt
