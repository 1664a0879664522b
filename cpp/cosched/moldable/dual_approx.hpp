// Makespan within 3/2 of the optimum by dual approximation (Mounie, Rapine, Trystram; [7, 17] of
// the paper), and its certified lower bound.
#pragma once

#include "cosched/moldable/shelves.hpp"

namespace cosched::moldable {

inline constexpr double kDefaultTolerance = 0.01;

struct DualApproximation {
  ShelfSchedule schedule;  // the shortest of those built
  double bound;            // no schedule of any kind is shorter
};

/// Searches the guess d: doubling from max(longest, area), then bisection until the least accepted
/// d is within 1 + tolerance of the greatest that was not.
/// makespan <= 3/2 (1 + tolerance) optimum.
/// `bound` is the greatest of longest, area and the d rejected by work or by gamma.
/// Requires properties (1) and (2), no release dates, tolerance > 0 (InvalidInstance).
/// O((log(optimum / bound) + log(1 / tolerance)) (n log n + m log m + a knapsack)).
DualApproximation dual_approximation(const Instance& instance,
                                     double tolerance = kDefaultTolerance);

}  // namespace cosched::moldable
