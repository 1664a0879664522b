// Exact methods and the bound for tasks that share the machine.
#pragma once

#include <optional>

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

/// The optimum for max_tasks <= 2 under any law, by matching: only that the costs of packs add up is used.  Throws
/// InvalidInstance where max_tasks > 2.
Coschedule pairs(const Instance& instance);

/// Up to 16 tasks by subsets(); beyond, the relaxation over sets, all sets that a better partition may use, and the
/// cheapest partition into them.  The best found and what is proved, where a limit or the size ends that.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit);

/// The greater of the bound as if nothing were shared and of the relaxation over sets, as far as a fixed work goes.
columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit);

}  // namespace cosched::packs::shared
