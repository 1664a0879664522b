#include "cosched/opt/min_cost_flow.hpp"

#include <lemon/list_graph.h>
#include <lemon/network_simplex.h>

#include <algorithm>
#include <cmath>

namespace cosched::opt {
namespace {

constexpr int kCostBits = 44;  // LEMON's artificial arcs cost the number of nodes times the largest

// Power of two that takes the largest cost to kCostBits bits.
int scaling_exponent(const std::vector<FlowArc>& arcs) {
  double largest = 0;
  for (const FlowArc& arc : arcs) largest = std::max(largest, std::abs(arc.cost));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return kCostBits - exponent;
}

}  // namespace

std::optional<std::vector<std::int64_t>> min_cost_flow(const std::vector<std::int64_t>& supply,
                                                       const std::vector<FlowArc>& arcs) {
  using Graph = lemon::ListDigraph;
  using Simplex = lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>;
  Graph graph;
  graph.reserveNode(static_cast<int>(supply.size()));
  graph.reserveArc(static_cast<int>(arcs.size()));
  for (std::size_t v = 0; v < supply.size(); ++v) graph.addNode();
  std::vector<Graph::Arc> made;
  for (const FlowArc& arc : arcs)
    made.push_back(graph.addArc(graph.nodeFromId(arc.from), graph.nodeFromId(arc.to)));
  const int exponent = scaling_exponent(arcs);
  Graph::ArcMap<std::int64_t> capacity(graph), cost(graph);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    capacity[made[a]] = arcs[a].capacity;
    cost[made[a]] = std::llround(std::ldexp(arcs[a].cost, exponent));
  }
  Graph::NodeMap<std::int64_t> balance(graph);
  for (std::size_t v = 0; v < supply.size(); ++v)
    balance[graph.nodeFromId(static_cast<int>(v))] = supply[v];

  Simplex simplex(graph);
  simplex.upperMap(capacity).costMap(cost).supplyMap(balance);
  if (simplex.run() != Simplex::OPTIMAL) return std::nullopt;
  std::vector<std::int64_t> flow(arcs.size());
  for (std::size_t a = 0; a < arcs.size(); ++a) flow[a] = simplex.flow(made[a]);
  return flow;
}

}  // namespace cosched::opt
