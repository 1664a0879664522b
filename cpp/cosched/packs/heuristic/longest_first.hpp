// A start for searches over many tasks, where pack-by-pack leaves much to gain.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// Packs around the longest tasks: the longest that is left, by least times, opens a pack of its
/// least time (1 + slack); the next longest that can keep to that length join it, as long as one
/// processor stays for each place that is free.  Where k tasks can share a pack so, the cost is
/// close to longest_bound.  The best over some slacks.  O(n (k + window) log p) each.
Coschedule longest_first(const Instance& instance);

}  // namespace cosched::packs::heuristic
