// A cheapest partition into given packs, from reduced costs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/packs/shared/set_relaxation.hpp"

namespace cosched::packs::shared {

/// The cost of a partition is that of the prices plus the reduced costs of its packs.  Depth first: the packs of the
/// task that has fewest left, the cheapest first, as long as the sum stays below `budget`.
struct CoverSearch {
  std::optional<Packs> packs;  // of least sum below the budget; none: there is no such partition
  double sum = 0;
  bool whole = true;  // false: `most_nodes` ended the search
};
CoverSearch cheapest_cover(int tasks, const std::vector<SetRelaxation::Column>& columns,
                           double budget, std::int64_t most_nodes);

}  // namespace cosched::packs::shared
