// Which tasks make a pack: the dynamic programmes of section 5's variants of pack-by-pack.
#pragma once

#include <vector>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// How pack-by-pack makes its packs.
enum class PackChoice {
  kGreedy,  ///< the first tasks of V, up to the first that does not fit: the paper's
  kIdle,    ///< the tasks of V that leave the least processor time idle (least_idle)
  kCuts,    ///< the greedy packs' tasks in their order, cut anew at the best places (best_cuts)
};

/// A task that may join a pack: its processors, and its work (processors times time).
struct Candidate {
  int procs;
  double work;
};

/// Of the candidates, the first among them, those that leave the least of a pack idle: most work in
/// at most `max_tasks` tasks on at most `procs` processors; ties: those that come first.  Ascending
/// places.  Requires a candidate, the first no wider than `procs`, max_tasks >= 1, works >= 0.
/// Of each width only the largest that could ever fit together are looked at: fewer than
/// p (1 + ln p) =: c.  O(n log n + c k p) time, c k p bits; a factor k less where k >= p.
/// Throws InvalidInstance where that is more than 2^33 bits.
std::vector<int> least_idle(const std::vector<Candidate>& candidates, int procs, int max_tasks);

/// The cheapest packs of tasks that are neighbours in `order`, at most k each.  Never costs more
/// than any packs that are made of `order` from its begin to its end.  Requires a permutation of
/// the tasks, unchecked.  O(n k p log k).
Packs best_cuts(const Instance& instance, const std::vector<int>& order);

}  // namespace cosched::packs::heuristic
