// Which cores jobs have, where a job may be suspended on cores that another one runs on (RULES.md
// 16.3): `row_bitmap` of cons_tres, by partition.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// The cores of all nodes, numbered one node after another, and which of them jobs of which
/// partition have.  Empty where no job is suspended.
class CoreMap {
 public:
  CoreMap() = default;
  explicit CoreMap(const Scenario& scenario);

  int first_core(int node) const { return first_cores_[node]; }
  int end_core(int node) const { return first_cores_[static_cast<std::size_t>(node) + 1]; }
  /// Cores of the node that are not in `excluded_cores`.
  int count_free_cores(int node, const NodeBits& excluded_cores) const;

  void allocate(int partition, const NodeBits& cores) { cores_by_partition_[partition] |= cores; }
  void release(int partition, const NodeBits& cores) { cores_by_partition_[partition] -= cores; }
  const NodeBits& cores_of(int partition) const { return cores_by_partition_[partition]; }
  /// Cores that jobs of any partition have.
  NodeBits allocated_cores() const;
  /// The lowest cores of each node that are not in `excluded_cores`: as many as its share has, or
  /// fewer where there are not so many.
  NodeBits lowest_free_cores(const std::vector<Share>& shares,
                             const NodeBits& excluded_cores) const;

 private:
  std::vector<int> first_cores_;              // by node, and behind them the number of all cores
  std::vector<NodeBits> cores_by_partition_;  // bits are cores
};

}  // namespace cosched::slurm
