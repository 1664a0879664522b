// Matchings in general graphs, by LEMON (lemon.cpp).
#pragma once

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

}  // namespace cosched::opt
