// A cheapest partition into given packs, from reduced costs.
#pragma once

#include <optional>

#include "cosched/packs/shared/set_relaxation.hpp"

namespace cosched::packs::shared {

/// A partition of least sum of reduced costs.
struct CoverResult {
  std::optional<Packs> packs;  ///< none: no partition has a sum below the budget
  double sum = 0;
  bool is_complete = true;  ///< false: `most_nodes` ended the search
};

/// Finds a partition of the tasks into given columns with a sum of reduced costs below `budget`,
/// and the least such sum.  (The cost of a partition is the sum of the prices plus that of the
/// reduced costs.) Depth first, with the task that the fewest columns can still cover next, and its
/// cheapest columns first.  `most_nodes`: partial partitions that are examined.
CoverResult cheapest_cover(int tasks, const std::vector<SetRelaxation::SetColumn>& columns,
                           double budget, std::int64_t most_nodes);

}  // namespace cosched::packs::shared
