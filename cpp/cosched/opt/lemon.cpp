// LEMON's matching and minimum-cost flow: the only file that includes LEMON, and the only one that
// is compiled as C++17.
#include <lemon/list_graph.h>
#include <lemon/matching.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matching.hpp"
#include "cosched/opt/min_cost_flow.hpp"

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

using Graph = lemon::SmartGraph;

// Edge weights that end LEMON's search when check_interrupt() throws: it asks for them all the
// time.
class PolledWeights {
 public:
  using Key = Graph::Edge;
  using Value = std::int64_t;

  explicit PolledWeights(const Graph& graph) : weight_(graph) {}
  void set(Key edge, Value value) { weight_[edge] = value; }
  Value operator[](Key edge) const {
    if (++reads_ % 65536 == 0) check_interrupt();
    return weight_[edge];
  }

 private:
  Graph::EdgeMap<Value> weight_;
  mutable std::uint32_t reads_ = 0;
};

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

std::vector<int> maximum_weight_matching(int vertices, const std::vector<WeightedEdge>& edges) {
  COSCHED_ASSERT(std::all_of(edges.begin(), edges.end(), [&](const WeightedEdge& edge) {
    const bool has_vertices =
        std::min(edge.from, edge.to) >= 0 && std::max(edge.from, edge.to) < vertices;
    return has_vertices && edge.from != edge.to && std::isfinite(edge.weight);
  }));
  const int exponent = scaling_exponent(edges);
  Graph graph;
  graph.reserveNode(vertices);
  graph.reserveEdge(static_cast<int>(edges.size()));
  for (int v = 0; v < vertices; ++v) graph.addNode();
  PolledWeights weight(graph);
  for (const WeightedEdge& edge : edges) {
    const std::int64_t scaled = std::llround(std::ldexp(edge.weight, exponent));
    if (edge.weight <= 0 || scaled <= 0) continue;
    weight.set(graph.addEdge(graph.nodeFromId(edge.from), graph.nodeFromId(edge.to)), scaled);
  }
  lemon::MaxWeightedMatching<Graph, PolledWeights> matching(graph, weight);
  matching.run();
  std::vector<int> partner(vertices, -1);
  for (int v = 0; v < vertices; ++v) {
    const Graph::Node mate = matching.mate(graph.nodeFromId(v));
    if (mate != lemon::INVALID) partner[v] = graph.id(mate);
  }
  return partner;
}

std::optional<std::vector<std::int64_t>> min_cost_flow(const std::vector<std::int64_t>& supply,
                                                       const std::vector<FlowArc>& arcs) {
  COSCHED_ASSERT(std::accumulate(supply.begin(), supply.end(), std::int64_t{0}) == 0);
  using Digraph = lemon::ListDigraph;
  using Simplex = lemon::NetworkSimplex<Digraph, std::int64_t, std::int64_t>;
  Digraph graph;
  graph.reserveNode(static_cast<int>(supply.size()));
  graph.reserveArc(static_cast<int>(arcs.size()));
  for (std::size_t v = 0; v < supply.size(); ++v) graph.addNode();
  std::vector<Digraph::Arc> graph_arcs;
  for (const FlowArc& arc : arcs)
    graph_arcs.push_back(graph.addArc(graph.nodeFromId(arc.from), graph.nodeFromId(arc.to)));
  const int exponent = scaling_exponent(arcs);
  Digraph::ArcMap<std::int64_t> capacity(graph), cost(graph);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    capacity[graph_arcs[a]] = arcs[a].capacity;
    cost[graph_arcs[a]] = std::llround(std::ldexp(arcs[a].cost, exponent));
  }
  Digraph::NodeMap<std::int64_t> balance(graph);
  for (std::size_t v = 0; v < supply.size(); ++v)
    balance[graph.nodeFromId(static_cast<int>(v))] = supply[v];

  Simplex simplex(graph);
  simplex.upperMap(capacity).costMap(cost).supplyMap(balance);
  if (simplex.run() != Simplex::OPTIMAL) return std::nullopt;
  std::vector<std::int64_t> flow(arcs.size());
  for (std::size_t a = 0; a < arcs.size(); ++a) flow[a] = simplex.flow(graph_arcs[a]);
  return flow;
}

}  // namespace cosched::opt
