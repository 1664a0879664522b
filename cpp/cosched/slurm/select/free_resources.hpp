// What is free on nodes that jobs share (RULES.md 7.1): `node_usage` of cons_tres.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// What is free on each node.  Updates of a node are inline: each test of a job makes many.
class FreeResources {
 public:
  struct Node {
    int cores = 0;            // free ones
    int jobs = 0;             // that run on it
    std::int64_t memory = 0;  // free MB, where memory is allocated
  };

  FreeResources() = default;
  /// Of an empty machine.
  explicit FreeResources(const Machine& machine);

  std::size_t node_count() const { return nodes_.size(); }
  const Node& node(int number) const { return nodes_[number]; }
  /// Nodes with a free core.
  const NodeBits& nodes_with_cores() const { return nodes_with_cores_; }
  std::size_t gpu_type_count() const { return gpus_by_type_.size(); }
  /// Free GPUs of that type; of all types where it is -1.
  int gpu_count(int node, int type) const;

  void allocate(const Shares& shares) { change(shares, 1); }
  void release(const Shares& shares) { change(shares, -1); }
  /// A job releases its part of one node.
  void release(const Share& share) { change(share, -1); }
  void release(const GpuShare& share) { gpus_by_type_[share.type][share.node] += share.count; }
  /// A suspended job has all of its shares but the cores.
  void allocate_except_cores(const Shares& shares) { change_except_cores(shares, 1); }
  void release_except_cores(const Shares& shares) { change_except_cores(shares, -1); }

  void set_cores(int node, int count) {
    nodes_[node].cores = count;
    if (count > 0)
      nodes_with_cores_.add(node);
    else
      nodes_with_cores_.remove(node);
  }
  /// The node becomes as it is in `source`.
  void copy_node(int node, const FreeResources& source);

 private:
  // `sign`: 1 where shares are allocated, -1 where they are released.
  void change(const Share& share, int sign) {
    Node& node = nodes_[share.node];
    set_cores(share.node, node.cores - sign * share.cores);
    node.jobs += sign;
    node.memory -= sign * share.memory;
  }
  void change(const Shares& shares, int sign);
  void change_except_cores(const Shares& shares, int sign);

  std::vector<Node> nodes_;
  NodeBits nodes_with_cores_;
  std::vector<std::vector<int>> gpus_by_type_;  // free ones by type and node
};

}  // namespace cosched::slurm
