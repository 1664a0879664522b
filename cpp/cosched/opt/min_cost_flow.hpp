// Minimum-cost flow, by LEMON's network simplex (lemon.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cosched::opt {

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
