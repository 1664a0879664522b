// Makespan within 3/2 of the optimum (under property (2); else 2) by dual approximation (Mounie,
// Rapine, Trystram 1999; Dutot, Mounie, Trystram 2004), and its certified lower bound.
#pragma once

#include "cosched/moldable/dual/shelves.hpp"

namespace cosched::moldable::dual {

inline constexpr double kDefaultTolerance = 0.01;

struct DualApproximation {
  ShelfSchedule schedule;  // the shortest of those built
  double bound;            // no schedule of any kind is shorter
};

/// What dual_approximation guarantees, but for its tolerance: 3/2 under property (2), else 2.
double guarantee(const Instance& instance);

/// Searches the guess d: doubling from max(longest, area), then bisection until the least accepted
/// d is within 1 + tolerance of the greatest that was not.
/// `bound` is the greatest of longest, area and the d rejected by work or by gamma.
///
/// makespan <= guarantee(instance) (1 + tolerance) optimum:
///   * under property (2), 3/2 by the shelves;
///   * without it, shelves may be impossible to build.  Each accepted d is then also tried with
///     every job on cheapest_i(d) processors, listed by decreasing time (Turek, Wolf, Yu 1992): the
///     work is at most m d, no job is longer than d.  Of two moments d apart, every job of the
///     later one did not fit at the earlier one, so together more than m processors are busy at
///     them, and the list ends by 2d.
///
/// Sharing and precedence are left out (as_independent_jobs()): they only lengthen schedules.
/// Requires no release dates, tolerance > 0 (InvalidInstance).
/// O((log(optimum / bound) + log(1 / tolerance)) (n log n + m log m + a knapsack)).
DualApproximation dual_approximation(const Instance& instance,
                                     double tolerance = kDefaultTolerance);

/// The certified bound of the dual approximation (which takes every release as 0), or window_bound
/// where releases make that greater.
double dual_approximation_bound(const Instance& instance, double tolerance);

/// The makespan of the dual approximation: C of DEMT and of the minsum bound.
double default_horizon(const Instance& instance);

}  // namespace cosched::moldable::dual
