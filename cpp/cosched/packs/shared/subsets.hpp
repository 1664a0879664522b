// The optimum of few tasks that share the machine: a programme over their subsets.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

inline constexpr int kMaxSubsetTasks = 16;

/// An optimal co-schedule by best(S) = min over packs c in S with the lowest task of S of price(c)
/// + best(S \ c).  A set is priced only where its lower bound is below the best of its partitions.
/// Where a price is not proved (more than some five tasks a pack on many processors) the bound is
/// the same sum of lower bounds.  A time limit of the thread leaves `fallback`.  Requires n <=
/// kMaxSubsetTasks.  O(3^n) time besides the prices, 2^n numbers of memory.
ExactResult subsets(const Instance& instance, ExactResult fallback);

}  // namespace cosched::packs::shared
