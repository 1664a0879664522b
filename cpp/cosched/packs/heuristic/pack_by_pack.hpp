// pack-by-pack (section 5 of the paper), for any table: tasks that cannot run on one processor
// start from the fewest that they can run on.  Deterministic; equal costs keep the first candidate.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// How pack-by-pack makes its packs: as the paper does, or by a dynamic programme (the variants of
/// its section 5).
enum class PackChoice {
  kGreedy,  ///< the first tasks of V, up to the first that does not fit: the paper's
  kIdle,    ///< the tasks of V that leave the least processor time idle (least_idle)
  kCuts,    ///< the greedy packs' tasks in their order, cut anew at the best places (best_cuts)
};

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

struct BestPackByPackParams {
  /// The epsilon that is tried first, whatever the time limit: that of pack-by-pack-1.
  double first_epsilon = 0.5;
  /// Seconds that the other epsilons may take whatever the time limit: 1,000 tasks need a tenth of
  /// it.
  double start_seconds = 0.5;
};

/// What searches start from: pack_by_pack over nine_epsilons().  A time limit that ends them leaves
/// the best of those done, which costs at most as much as that of the first epsilon.
SearchedCoschedule best_pack_by_pack(const Instance& instance,
                                     const BestPackByPackParams& params = {});

}  // namespace cosched::packs::heuristic
