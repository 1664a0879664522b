// Matchings in general graphs, by LEMON.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cosched::opt {

struct WeightedEdge {
  int from, to;
  double weight;
};

/// Matching of greatest total weight; returns each vertex's partner, or -1.
///
/// Requires vertices in 0..vertices-1, no loops, finite weights; edges of weight <= 0 are never
/// used.  Weights are rounded to 48-bit integers relative to the largest, because the algorithm's
/// dual values are then exact: the result's weight is within vertices * 2^-49 of the optimum,
/// relative to the largest weight.  O(V E log V).
std::vector<int> maximum_weight_matching(int vertices, const std::vector<WeightedEdge>& edges);

// Minimum-cost flow, by LEMON's network simplex.

struct FlowArc {
  int from, to;
  std::int64_t capacity;
  double cost;  // of a unit of flow
};

/// Flow of each arc that sends supply[v] (negative: demand) out of every node at least cost;
/// nullopt where there is none.  Flows are integers.
///
/// Requires nodes 0..supply.size()-1, capacities >= 0, finite costs, supplies that sum to zero.
/// Costs are rounded to 44-bit integers relative to the largest magnitude, so that the simplex is
/// exact: the flow's cost is within 2^-44 of the optimum, relative to largest cost x total flow.
std::optional<std::vector<std::int64_t>> min_cost_flow(const std::vector<std::int64_t>& supply,
                                                       const std::vector<FlowArc>& arcs);

}  // namespace cosched::opt
