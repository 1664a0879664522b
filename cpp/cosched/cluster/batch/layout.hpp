// Which nodes a job may use: partitions of a machine.
#pragma once

#include <vector>

#include "cosched/cluster/batch/bit_set.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// Nodes that every partition either has all or none of form a *cell*.  Cell c holds nodes[c]
/// nodes, numbered on from those of the cells before it.
struct Layout {
  std::vector<int> nodes;            // by cell
  std::vector<BitSet64> open_cells;  // by job: those that it may use
  // By job, the nodes that it has when the simulation begins; empty where it takes what is free.
  // No rows at all where no job runs at the begin.  Running jobs come first in the queue.
  std::vector<std::vector<int>> initial_nodes = {};

  int cell_count() const { return static_cast<int>(nodes.size()); }
  bool has_initial_nodes(int job) const {
    return !initial_nodes.empty() && !initial_nodes[job].empty();
  }
  /// How many of the job's initial nodes are in each cell.  Requires has_initial_nodes(job).
  std::vector<int> initial_nodes_per_cell(int job) const;
};

inline constexpr int kMaxCells = 64;

/// All nodes in one cell, open to every job.
Layout one_cell_layout(const Instance& instance);

/// Throws InvalidInstance where jobs that run at the begin have more or fewer nodes than tasks, or
/// two jobs have the same node.
void require_initial_nodes(const std::vector<std::vector<int>>& initial_nodes,
                           const Instance& instance);

/// Throws InvalidInstance where the cells do not sum to the machine's nodes or a job's row is
/// missing, InfeasibleError that names the first job with more tasks than nodes it may use.
void require_layout_fits(const Instance& instance, const Layout& layout);

}  // namespace cosched::cluster::batch
