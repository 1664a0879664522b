// The paper's "standard" algorithms (section 4.1).  All off-line: no release dates.
#pragma once

#include "cosched/moldable/dual_approx.hpp"
#include "cosched/moldable/placement.hpp"

namespace cosched::moldable {

/// Every job alone on the m processors, of which it uses the best count, by decreasing
/// w_i / t_i(m).  Optimal for minsum when the speed-up is linear.  O(n log n).
Placement gang(const Instance& instance);

/// Every job on one processor (on the fewest where it cannot run on one), longest first (LPTF), to
/// the processors that are idle first.  O(n log n).
Placement sequential(const Instance& instance);

/// The order of the list in list_graham.
enum class ListOrder {
  shelf,  // of the dual approximation: large shelf, small shelf, small jobs
  lptf,   // "weighted LPTF": decreasing w_i / t_i on the allotted processors
  saf,    // smallest area first: increasing q t_i(q)
};

/// Multiprocessor list scheduling with the allotment of the dual approximation, after its
/// transformations.  O(n log n) after dual_approximation().
Placement list_graham(const Instance& instance, ListOrder order,
                      double tolerance = kDefaultTolerance);
Placement list_graham(const Instance& instance, ListOrder order, const ShelfSchedule& shelves);

}  // namespace cosched::moldable
