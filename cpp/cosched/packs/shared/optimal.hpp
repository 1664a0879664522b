// Exact methods and the bound for tasks that share the machine.
#pragma once

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/shared/set_relaxation.hpp"

namespace cosched::packs::shared {

// A cheapest partition into given packs, from reduced costs.

/// The cost of a partition is that of the prices plus the reduced costs of its packs.  Depth first:
/// the packs of the task that has fewest left, the cheapest first, as long as the sum stays below
/// `budget`.
struct CoverSearch {
  std::optional<Packs> packs;  // of least sum below the budget; none: there is no such partition
  double sum = 0;
  bool whole = true;  // false: `most_nodes` ended the search
};
CoverSearch cheapest_cover(int tasks, const std::vector<SetRelaxation::Column>& columns,
                           double budget, std::int64_t most_nodes);

/// The optimum for max_tasks <= 2 under any law, by matching: only that the costs of packs add up
/// is used.  Throws InvalidInstance where max_tasks > 2.
Coschedule pairs(const Instance& instance);

/// Up to 16 tasks by subsets(); beyond, the relaxation over sets, all sets that a better partition
/// may use, and the cheapest partition into them.  The best found and what is proved, where a limit
/// or the size ends that.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit);

/// What optimal() does under a time limit with more than 16 tasks, without a clock: the rounds of
/// local_search (seed 0) have `work` operations a task in all, and each look of the proof at the
/// sets has `nodes` of them.  Never costs more than local_search with the same work.
ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes);

/// The greater of the bound as if nothing were shared and of the relaxation over sets, as far as a
/// fixed work goes.
columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit);

}  // namespace cosched::packs::shared
