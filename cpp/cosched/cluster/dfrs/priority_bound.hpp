// When a block of idle jobs need not be looked into.
#pragma once

#include <limits>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// An upper bound of the priorities of some jobs from a time on: a linear function of time.  By
/// default of no jobs.
///
/// Policies ask for jobs of at least some priority.  The priority (t - submit) / vt^2 of a job
/// grows with the time t at a rate of its own, 1 / vt^2, so that the job with the greatest priority
/// now need not have it later.  A bound consists of two numbers that may come from two jobs: the
/// greatest priority at the time when it was computed (`greatest_priority`), and the greatest rate.
/// Three jobs, in two blocks:
///
///          submit   vt    rate   priority at 100   110   120   130
///   job 0       0    1       1               100   110   120   130   block A
///   job 1      90   0.5      4                40    80   120   160   block A
///   job 2      20    1       1                80    90   100   110   block B
///   bound of A, computed at 100: priority 100 (job 0),
///     rate 4 (job 1)                         100   140   180   220
///   bound of B, computed at 100: priority 80, rate 1
///                                             80    90   100   110
///
/// Which jobs have at least 150?  At 110 none, and both blocks are skipped by one comparison each.
/// At 120 the bound of A reaches 150 though no job does: it is computed anew (priority 120, rate
/// 4), and A is skipped after all.  At 130 this bound is 160: A is looked into, and job 1 is found.
/// A bound that followed job 0, which had the greatest priority at 100, would have been 130 and
/// would have missed job 1.
struct PriorityBound {
  double computed_at = 0;  // s
  double greatest_priority = 0;
  double greatest_rate = 0;

  /// Bounds any jobs.  It is computed anew before it excludes anything.
  static PriorityBound unknown() {
    return {.computed_at = 0, .greatest_priority = kInfinity, .greatest_rate = 0};
  }

  /// At least the priorities at a time >= computed_at, also where these are computed as quotients
  /// and the bound from products.
  double at(double now) const {
    return (greatest_priority + (now - computed_at) * greatest_rate) * (1 + kRounding) + kTiny;
  }

  static constexpr double kRounding = kSumTolerance;  // relative
  static constexpr double kTiny = std::numeric_limits<double>::min();
};

}  // namespace cosched::cluster::dfrs
