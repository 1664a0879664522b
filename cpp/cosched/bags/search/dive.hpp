// Whole patterns from the linear relaxation over patterns: diving, and parts of a plan made anew.
#pragma once

#include "cosched/bags/search/patterns.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

/// Runs that place all of `stock`, on machines numbered from 0 within its types; nothing where the
/// relaxation finds no place for a task.
///
/// Copies are rounded down and fixed, what is left is relaxed anew, with new patterns (diving, as
/// in column-generation heuristics); where nothing is whole, a copy is rounded up, drawn by its
/// fraction. Requires use = pool.solve() of that stock.
std::optional<std::vector<TaskRun>> dive_into_patterns(const Instance& instance,
                                                       const PatternPool& pool,
                                                       const PatternUse& use, Stock stock,
                                                       Rng& rng);

}  // namespace cosched::bags::search
