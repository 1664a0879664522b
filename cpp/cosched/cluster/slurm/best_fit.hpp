// The choice of consecutive nodes that Slurm's select plugins make (RULES.md 5.1, 5.3).
#pragma once

#include <vector>

#include "cosched/cluster/slurm/node_bits.hpp"

namespace cosched::cluster::slurm {

/// Best fit over runs of consecutive candidates into `chosen` (of their size): the lowest nodes of the shortest run that
/// suffices (first of equals); where none does, the longest run whole, and so on for the rest.
/// Requires that there are `wanted` candidates.  O(runs^2) at worst.
void best_fit(const NodeBits& candidates, int wanted, NodeBits& chosen);

/// The same where nodes have `free` cores and a job wants so many `cores`, on one node at least:
/// the run that suffices with the fewest free cores; there the node that suffices alone with the
/// fewest, else its lowest nodes.  Whether there are enough.
bool best_fit_cores(const NodeBits& candidates, const std::vector<int>& free, int cores,
                    NodeBits& chosen);

}  // namespace cosched::cluster::slurm
