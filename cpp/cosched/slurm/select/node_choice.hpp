// The nodes that are chosen for a job.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// Nodes for a job.
struct NodeChoice {
  explicit NodeChoice(int node_count) : nodes(node_count) {}

  /// Sets `nodes` to those of `shares`.
  void set_nodes_from_shares() {
    nodes.clear();
    for (const Share& share : shares.nodes) nodes.add(share.node);
  }

  NodeBits nodes;
  Shares shares;                // where jobs share nodes: the job's part of each
  int partition = 0;            // where jobs are suspended
  NodeBits cores = NodeBits();  // where jobs are suspended: bits of core_map.hpp
};

}  // namespace cosched::slurm
