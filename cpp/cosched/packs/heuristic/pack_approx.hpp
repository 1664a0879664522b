// pack-Approx (section 4.4 of the paper), for any table: where the paper starts from one processor
// each, a task that cannot run on one starts from the fewest that it can run on.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// pack-Approx: from sigma = 1, the longest task gets one more processor until the total work
/// exceeds p times the longest time; Make-pack on every sigma on the way, the best is kept.
/// Cost at most 3 times the optimum when k = p and property (2) holds (Theorem 5).  `reoptimise`
/// runs the 1-pack algorithm on every candidate's packs, which the paper does not: never worse.
/// O(steps n log n), steps <= n p.
Coschedule pack_approx(const Instance& instance, bool reoptimise);

}  // namespace cosched::packs::heuristic
