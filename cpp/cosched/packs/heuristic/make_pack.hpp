// Packs for tasks whose processor counts are given (Algorithm 4.4 of the paper).
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// Make-pack(sigma): tasks by decreasing time on sigma(i) processors, as measured (ties: the lower
/// number), each into the first pack with enough free processors and fewer than k tasks, else into
/// a new pack.  `reoptimise` then gives each pack its optimal processors (one_pack): never worse;
/// without it sigma is kept as it is.
/// Throws InvalidInstance when procs has not n entries in 1..p, or one on which its task cannot
/// run. O(n (log n + log P)).
Coschedule make_pack(const Instance& instance, const std::vector<int>& procs, bool reoptimise);

}  // namespace cosched::packs::heuristic
