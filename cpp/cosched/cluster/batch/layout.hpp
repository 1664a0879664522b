// Which nodes a job may use: partitions of a machine.
#pragma once

#include "cosched/cluster/batch/options.hpp"

namespace cosched::cluster::batch {

/// Nodes that every partition either has all or none of form a *cell*.  Cell c holds
/// nodes[c] nodes, numbered on from those of the cells before it.
struct Layout {
  std::vector<int> nodes;
  std::vector<std::uint64_t> allowed;  // by job: bit c = it may use cell c
  // Nodes that jobs have when the simulation begins, by job: empty where it takes what is free; of
  // nobody: empty. Such jobs come first in the queue.
  std::vector<std::vector<int>> held = {};

  int cells() const { return static_cast<int>(nodes.size()); }
  bool holds(int job) const { return !held.empty() && !held[job].empty(); }
  /// Of each cell, of a job that holds nodes.
  std::vector<int> held_of_cells(int job) const;
};

inline constexpr int kMostCells = 64;

/// All nodes in one cell, open to every job.
Layout one_cell(const Instance& instance);

/// Throws InvalidInstance where jobs that hold some of the machine's nodes hold others than they
/// have tasks, or two jobs the same.
void require_held(const std::vector<std::vector<int>>& held, const Instance& instance);

/// Throws InvalidInstance where the cells do not sum to the machine's nodes or a job's row is
/// missing, InfeasibleError that names the first job with more tasks than nodes it may use.
void require_layout_fits(const Instance& instance, const Layout& layout);

// Node numbers for the outcome of a batch policy, which only counts nodes.

/// A row a job, on the lowest-numbered nodes that are free at its start.
/// O(n log n + total tasks x log P).
Trace batch_trace(const Instance& instance, const Outcome& outcome);

/// The same, on nodes of the cells of its share.
Trace placed_trace(const Instance& instance, const Layout& layout, const PlacedOutcome& placed);

/// The same, on the cores of the nodes that each job has.
Trace site_trace(const Instance& instance, const Site& site, const SiteOutcome& placed);

}  // namespace cosched::cluster::batch
