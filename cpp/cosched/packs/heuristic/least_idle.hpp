// Which tasks leave the least of a pack idle: a dynamic programme over processors and tasks.
#pragma once

#include <vector>

namespace cosched::packs::heuristic {

/// A task that may join a pack: its processors, and its work (processors times time).
struct PackCandidate {
  int procs;
  double work;
};

/// Of the candidates, the first among them, those that leave the least of a pack idle: most work in
/// at most `max_tasks` tasks on at most `procs` processors; ties: those that come first.  Ascending
/// places.  Requires a candidate, the first no wider than `procs`, max_tasks >= 1, works >= 0.
/// Of each width only the largest that could ever fit together are looked at: fewer than
/// p (1 + ln p) =: c.  O(n log n + c k p) time, c k p bits; a factor k less where k >= p.
/// Throws InvalidInstance where that is more than 2^33 bits.
std::vector<int> least_idle(const std::vector<PackCandidate>& candidates, int procs, int max_tasks);

}  // namespace cosched::packs::heuristic
