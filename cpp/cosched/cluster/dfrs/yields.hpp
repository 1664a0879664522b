// CPU allocation once tasks are mapped to nodes (Casanova, Stillwell, Vivien 2011, sections 4.6 and
// 4.7).
#pragma once

#include "cosched/cluster/dfrs/node_list.hpp"

namespace cosched::cluster::dfrs {

// The nodes that constrain CPU shares: those whose load exceeds 1.

struct CpuShare {
  int job;
  double amount;  // CPU that the job takes of the node per unit of yield
};

/// Row r: shares[begin[r] .. begin[r+1]), by increasing job; one row a node of load > 1.
struct FullNodes {
  std::vector<int> node;
  std::vector<int> begin{0};
  std::vector<CpuShare> shares;

  int rows() const { return static_cast<int>(node.size()); }
};

/// A load above 1 by less than this is rounding.
inline constexpr double kLoadTolerance = 1e-12;

/// O(tasks).
FullNodes full_nodes(const Mapping& mapping);

/// CPU load of each node = sum of the needs of its tasks.
std::vector<double> node_loads(const Mapping& mapping);

/// 1 / max(1, greatest node load) for every job: the greatest minimum yield.  O(tasks).
std::vector<double> base_yields(const Mapping& mapping);

/// opt=min, iterative max-min: raise the common yield, freeze the jobs of a node that is
/// full, go on with the others up to yield 1.  O(tasks + k log k), k = tasks on nodes of
/// load above 1 (times tasks a node).
std::vector<double> max_min_yields(const Mapping& mapping);

/// The same for job j's share max(0, slope[j] z - offset[j]), at most 1, raising z: with
/// slope = (ft + T)/T and offset = vt/T it is MCB8-stretch's opt=max.  slope > 0, offset >= 0.
std::vector<double> max_min_shares(const Mapping& mapping, const std::vector<double>& slope,
                                   const std::vector<double>& offset);

// The greatest average yield of mapped tasks (Casanova, Stillwell, Vivien 2011, section 4.6).

/// opt=avg: maximises sum weight_j y_j with lower_j <= y_j <= 1 and no node above 1.
/// Requires weights > 0 and that `lower` itself is feasible up to rounding.
/// An LP, solved in independent pieces: jobs on no full node get 1; pieces with one
/// binding node are fractional knapsacks; the rest goes to the LP solver.
std::vector<double> best_average_yields(const Mapping& mapping, const std::vector<double>& lower,
                                        const std::vector<double>& weight);

}  // namespace cosched::cluster::dfrs
