// pack-by-pack (section 5 of the paper), for any table: tasks that cannot run on one processor
// start from the fewest that they can run on.  Deterministic; equal costs keep the first candidate.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

// Which tasks make a pack: the dynamic programmes of section 5's variants of pack-by-pack.

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

/// The values of pack-by-pack-9; pack-by-pack-1 has epsilon = 0.5.
std::vector<double> nine_epsilons();

/// pack-by-pack(epsilon), the best over `epsilons`.  Tasks within a factor 1 - epsilon of the
/// longest make a pack once they ask for p processors; until then the longest gets one more.
/// Throws InvalidInstance when `epsilons` is empty or one is outside [0, 1).
/// `choice`: the paper's packs, or those of a dynamic programme; kCuts is never
/// worse than kGreedy.
/// O(|epsilons| n p) at worst, in practice close to O(|epsilons| (n + P p) log n), and for each
/// epsilon a least_idle a pack or one best_cuts.
Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        PackChoice choice = PackChoice::kGreedy);

/// What searches start from: pack_by_pack over nine_epsilons().  They may take half a second
/// whatever the time limit; a limit that ends them after that leaves the best of those done, which
/// is at least that of epsilon = 0.5.
SearchResult best_pack_by_pack(const Instance& instance);

// A start for searches over many tasks, where pack-by-pack leaves much to gain.

/// Packs around the longest tasks: the longest that is left, by least times, opens a pack of its
/// least time (1 + slack); the next longest that can keep to that length join it, as long as one
/// processor stays for each place that is free.  Where k tasks can share a pack so, the cost is
/// close to longest_bound.  The best over some slacks.  O(n (k + window) log p) each.
Coschedule longest_first(const Instance& instance);

}  // namespace cosched::packs::heuristic
