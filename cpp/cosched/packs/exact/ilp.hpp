// The paper's integer programme (section 4.3).
#pragma once

#include <optional>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

/// The paper's integer programme (Theorem 4) through cosched::lp; n p + 1 columns for each of n
/// possible packs, so only for a handful of tasks.  Reads the times as measured.  `is_proved` and
/// `bound` are as exact as the LP solver; a time limit leaves the best co-schedule so far, at worst
/// the sequential one.  Throws SolverError when the solver fails or the programme has more than two
/// million columns.
ExactResult ilp(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::exact
