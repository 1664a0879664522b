#include "cosched/opt/matching.hpp"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cosched/core/interrupt.hpp"

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
    if (++asked_ % 65536 == 0) check_interrupt();
    return weight_[edge];
  }

 private:
  Graph::EdgeMap<Value> weight_;
  mutable std::uint32_t asked_ = 0;
};

}  // namespace

std::vector<int> maximum_weight_matching(int vertices, const std::vector<WeightedEdge>& edges) {
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

}  // namespace cosched::opt
