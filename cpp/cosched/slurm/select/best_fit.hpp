// The choice of consecutive whole nodes that Slurm's select plugins make (RULES.md 5.1).
#pragma once

#include "cosched/slurm/model/node_bits.hpp"

namespace cosched::slurm {

/// Best fit over runs of consecutive candidates into `chosen` (of their size): the lowest nodes of the shortest run that
/// suffices (first of equals); where none does, the longest run whole, and so on for the rest.
/// Requires that there are `wanted` candidates.  O(runs^2) at worst.
void best_fit(const NodeBits& candidates, int wanted, NodeBits& chosen);

}  // namespace cosched::slurm
