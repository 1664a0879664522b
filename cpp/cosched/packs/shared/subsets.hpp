// The optimum of few tasks that share the machine: a programme over their subsets.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

inline constexpr int kMaxSubsetTasks = 16;

struct SubsetParams {
  /// Nodes that the searches for all prices visit together, about.
  std::int64_t max_nodes = 100'000'000;
  /// Nodes that the search for one price may visit at least and at most.
  std::int64_t min_price_nodes = 500, max_price_nodes = 1'000'000;
};

/// An optimal co-schedule by best(S) = min over packs c in S with the lowest task of S of price(c)
/// + best(S \ c).  A set is priced only where its lower bound is below the best of its partitions.
/// Where a price is not proved (more than some five tasks a pack on many processors) the bound is
/// the same sum of lower bounds.  A time limit of the thread leaves `fallback`.  Requires n <=
/// kMaxSubsetTasks.  O(3^n) time besides the prices, 2^n numbers of memory.
ExactResult subsets(const Instance& instance, ExactResult fallback,
                    const SubsetParams& params = {});

}  // namespace cosched::packs::shared
