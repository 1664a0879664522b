// The paper's heuristics (sections 4.4 and 5), for any table.  Where they start from one processor
// each, tasks that cannot run on one start from the fewest that they can run on.
// All are deterministic; equal costs keep the first candidate.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/packs/coschedule.hpp"
#include "cosched/packs/pack_choice.hpp"

namespace cosched::packs {

/// One task a pack, each alone on the p processors, of which it uses the best count: cost
/// sum_i t_i(p), the base of relative_cost.  Optimal for k = 1.  O(n).
Coschedule sequential(const Instance& instance);

/// pack-Approx: from sigma = 1, the longest task gets one more processor until the total work
/// exceeds p times the longest time; Make-pack on every sigma on the way, the best is kept.
/// Cost at most 3 times the optimum when k = p and property (2) holds (Theorem 5).  `reoptimise`
/// runs the 1-pack algorithm on every candidate's packs, which the paper does not: never worse.
/// O(steps n log n), steps <= n p.
Coschedule pack_approx(const Instance& instance, bool reoptimise);

/// Best of `draws` random partitions: while tasks remain, a size uniform in
/// [1, min(k, tasks left)], then that many tasks at random, or those before the first that no longer
/// fits; 1-pack on each pack.  The first draws of a longer call are those of a shorter one.  Throws
/// InvalidInstance when draws < 1.
/// O(draws (n + P p log k)).
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed);

/// Best of `draws`: every sigma_i uniform in [fewest, p], Make-pack, 1-pack on each pack.
/// O(draws (n log n + P p log k)).
Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed);

/// The values of pack-by-pack-9; pack-by-pack-1 has epsilon = 0.5.
std::vector<double> nine_epsilons();

/// pack-by-pack(epsilon), the best over `epsilons`.  Tasks within a factor 1 - epsilon of the
/// longest make a pack once they ask for p processors; until then the longest gets one more.
/// Throws InvalidInstance when `epsilons` is empty or one is outside [0, 1).
/// `choice`: the paper's packs, or those of a dynamic programme (pack_choice.hpp); kCuts is never
/// worse than kGreedy.
/// O(|epsilons| n p) at worst, in practice close to O(|epsilons| (n + P p) log n), and for each
/// epsilon a least_idle a pack or one best_cuts.
Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        PackChoice choice = PackChoice::kGreedy);

/// What searches start from: pack_by_pack over nine_epsilons().  They may take half a second
/// whatever the time limit; a limit that ends them after that leaves the best of those done, which
/// is at least that of epsilon = 0.5.
SearchResult best_pack_by_pack(const Instance& instance);

}  // namespace cosched::packs
