// The optimum of few tasks that share the machine: a programme over their subsets.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

inline constexpr int kMostSubsetTasks = 16;

/// best(S) = min over packs c in S that hold S's lowest task of c's price + best(S \ c).  A set is
/// priced only where its lower bound is below the best of its partitions.  Requires n <=
/// kMostSubsetTasks.  Where a price is not proved (more than some five tasks a pack on many
/// processors), the bound is that of the lower bounds.  `fallback` is what a time limit leaves.
ExactResult subsets(const Instance& instance, ExactResult fallback);

}  // namespace cosched::packs::shared
