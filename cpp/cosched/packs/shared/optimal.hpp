// Exact methods and the bound for tasks that share the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

/// An optimal co-schedule.  Up to 16 tasks by subsets(); beyond, by the relaxation over sets, all
/// sets that a better partition may use, and a cheapest partition into them.  Where a time limit
/// (seconds) or the number of sets ends this, the best co-schedule so far and the bound that is
/// proved.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit);

/// What optimal() does under a time limit with more than 16 tasks, without a clock: the rounds of
/// local_search (seed 0) have `work` operations a task in all, and each look of the proof at the
/// sets has `nodes` of them.  Never costs more than local_search with the same work.
ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes);

/// The greater of the bound without sharing and the bound of the relaxation over sets, the latter
/// with a fixed amount of work.
columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit);

}  // namespace cosched::packs::shared
