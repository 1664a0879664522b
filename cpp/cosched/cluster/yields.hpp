// CPU allocation once tasks are mapped to nodes (paper 3, sections 4.6 and 4.7).
#pragma once

#include <vector>

#include "cosched/cluster/node_list.hpp"

namespace cosched::cluster {

/// Jobs with their CPU needs and the nodes of their tasks (one entry a task, increasing).
/// Views: the lists pointed to outlive the mapping.
struct Mapping {
  int nodes = 0;
  std::vector<double> cpu;
  std::vector<const NodeList*> where;

  int jobs() const { return static_cast<int>(cpu.size()); }
};

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

/// opt=avg: maximises sum weight_j y_j with lower_j <= y_j <= 1 and no node above 1.
/// Requires weights > 0 and that `lower` itself is feasible up to rounding.
/// An LP, solved in independent pieces: jobs on no full node get 1; pieces with one
/// binding node are fractional knapsacks; the rest goes to the LP solver.
std::vector<double> best_average_yields(const Mapping& mapping, const std::vector<double>& lower,
                                        const std::vector<double>& weight);

}  // namespace cosched::cluster
