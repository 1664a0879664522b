// Whole patterns from the linear relaxation over patterns: diving, and parts of a plan made anew.
#pragma once

#include "cosched/bags/search/patterns.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

struct DiveParams {
  /// Rounds of column generation for the tasks that are not placed yet.
  int pricing_rounds = 30;
  /// A copy of a pattern that lacks less than this is whole.
  double whole_tolerance = 1e-6;
};

/// Runs that place all of `stock`, on machines numbered from 0 within its types; nothing where the
/// relaxation finds no place for a task.
///
/// Copies are rounded down and fixed, what is left is relaxed anew, with new patterns (diving, as
/// in column-generation heuristics); where nothing is whole, a copy is rounded up, drawn by its
/// fraction. Requires use = pool.solve() of that stock.
std::optional<std::vector<TaskRun>> dive_into_patterns(const Instance& instance,
                                                       const PatternPool& pool,
                                                       const PatternUse& use, Stock stock, Rng& rng,
                                                       const DiveParams& params = {});

}  // namespace cosched::bags::search
