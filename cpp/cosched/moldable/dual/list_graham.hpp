// Multiprocessor list scheduling of the paper's "standard" algorithms (section 4.1).
#pragma once

#include "cosched/moldable/dual/dual_approx.hpp"

namespace cosched::moldable::dual {

/// The order of the list in list_graham.
enum class ListOrder {
  shelf,  // of the dual approximation: large shelf, small shelf, small jobs
  lptf,   // "weighted LPTF": decreasing w_i / t_i on the allotted processors
  saf,    // smallest area first: increasing q t_i(q)
};

/// Multiprocessor list scheduling with the allotment of the dual approximation, after its
/// transformations, on counts on which each job fits.  O(n log n) after dual_approximation() where
/// nothing is shared.  No edges.
Placement list_graham(const Instance& instance, ListOrder order,
                      double tolerance = kDefaultTolerance);
Placement list_graham(const Instance& instance, ListOrder order, const ShelfSchedule& shelves);

}  // namespace cosched::moldable::dual
