// Which nodes a job may use: partitions of a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// Nodes that every partition either has all or none of form a *cell*.  Cell c holds
/// nodes[c] nodes, numbered on from those of the cells before it.
struct Layout {
  std::vector<int> nodes;
  std::vector<std::uint64_t> allowed;  // by job: bit c = it may use cell c

  int cells() const { return static_cast<int>(nodes.size()); }
};

inline constexpr int kMostCells = 64;

/// All nodes in one cell, open to every job.
Layout one_cell(const Instance& instance);

/// Throws InvalidInstance where the cells do not sum to the machine's nodes or a job's row is
/// missing, InfeasibleError that names the first job with more tasks than nodes it may use.
void require_layout_fits(const Instance& instance, const Layout& layout);

}  // namespace cosched::cluster::batch
