#include "cosched/opt/matching.hpp"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cosched::opt {
namespace {

constexpr int kWeightBits = 48;  // LEMON multiplies by 4 and sums a few of them

// Power of two that takes the largest weight to kWeightBits bits.
int scaling_exponent(const std::vector<WeightedEdge>& edges) {
  double largest = 0;
  for (const WeightedEdge& edge : edges) largest = std::max(largest, edge.weight);
  int exponent = 0;
  std::frexp(largest, &exponent);
  return kWeightBits - exponent;
}

}  // namespace

std::vector<int> maximum_weight_matching(int vertices, const std::vector<WeightedEdge>& edges) {
  using Graph = lemon::SmartGraph;
  const int exponent = scaling_exponent(edges);
  Graph graph;
  graph.reserveNode(vertices);
  graph.reserveEdge(static_cast<int>(edges.size()));
  for (int v = 0; v < vertices; ++v) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  for (const WeightedEdge& edge : edges) {
    const std::int64_t scaled = std::llround(std::ldexp(edge.weight, exponent));
    if (edge.weight <= 0 || scaled <= 0) continue;
    weight[graph.addEdge(graph.nodeFromId(edge.from), graph.nodeFromId(edge.to))] = scaled;
  }
  lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>> matching(graph, weight);
  matching.run();
  std::vector<int> partner(vertices, -1);
  for (int v = 0; v < vertices; ++v) {
    const Graph::Node mate = matching.mate(graph.nodeFromId(v));
    if (mate != lemon::INVALID) partner[v] = graph.id(mate);
  }
  return partner;
}

}  // namespace cosched::opt
