// Which of the nodes that have something for a job: select/cons_tres over nodes (RULES.md 8).
#pragma once

#include "cosched/slurm/select/resources.hpp"

namespace cosched::slurm {

// The choice of consecutive whole nodes that Slurm's select plugins make (RULES.md 5.1).

/// Best fit over runs of consecutive candidates into `chosen` (of their size): the lowest nodes of
/// the shortest run that suffices (first of equals); where none does, the longest run whole, and so
/// on for the rest. Requires that there are `wanted` candidates.  O(runs^2) at worst.
void best_fit(const NodeBits& candidates, int wanted, NodeBits& chosen);

/// Scheduling weights of nodes: runs of less weight come first.
using Weights = std::vector<std::uint64_t>;

/// That of a node without GPUs for a job; each GPU makes it one less.
inline std::uint64_t scheduling_weight(int weight) {
  return static_cast<std::uint64_t>(weight) * 256 + 255;
}

/// Nodes of `candidates` for the job, and what it has of each, into `chosen`; whether there are
/// enough. A job with GPUs sets the weights of the nodes that it looks at.  O(candidates + runs^2),
/// and once more for each count of cores below which nodes have to be left out.
bool choose(const Machine& machine, const Job& job, const NodeBits& candidates, const Free& free,
            Weights& weights, Shares& chosen);

}  // namespace cosched::slurm
