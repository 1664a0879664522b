// A start for searches over many tasks, where pack-by-pack leaves much to gain.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

struct LongestFirstParams {
  /// By how much packs may be longer than the task that opens them, as parts of its time.
  std::vector<double> slacks = {0, 0.1, 0.3, 0.8};
  /// Tasks that do not fit which a pack looks at.
  int max_refused_tasks = 200;
};

/// Packs around the longest tasks.  The task with the longest least time that is not packed opens a
/// pack of that time (1 + slack); the next longest tasks that fit into this length join it, as long
/// as one processor remains for each free place.  Where k tasks can share a pack so, the cost is
/// close to longest_bound.  The best over some slacks.  O(n (k + window) log p) each.
Coschedule longest_first(const Instance& instance, const LongestFirstParams& params = {});

}  // namespace cosched::packs::heuristic
