// The nodes that constrain CPU shares: those whose load exceeds 1.
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/mapping.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// What a job takes of a node.
struct CpuShare {
  int job;
  double amount;  // CPU per unit of yield
};

/// Row r: shares[begin[r] .. begin[r+1]), by increasing job; one row for each node of load > 1.
struct FullNodes {
  std::vector<int> node;  // by row
  std::vector<int> begin{0};
  std::vector<CpuShare> shares;

  int rows() const { return static_cast<int>(node.size()); }
};

/// A load above 1 by less than this is rounding.
inline constexpr double kLoadTolerance = kSumTolerance;

/// O(tasks).
FullNodes find_full_nodes(const Mapping& mapping);

/// CPU load of each node = sum of the needs of its tasks.
std::vector<double> node_loads(const Mapping& mapping);

}  // namespace cosched::cluster::dfrs
