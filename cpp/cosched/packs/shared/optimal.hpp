// Exact methods and the bound for tasks that share the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

struct SharedOptimalParams {
  /// Sets that bound() examines: some seconds.
  std::int64_t bound_nodes = 10'000'000;
  /// Tasks up to which bound() prices pairs.
  int max_bounded_tasks = 400;
  /// Sets that one look of the proof examines.
  std::int64_t proof_nodes = std::int64_t{1} << 40;
  /// Sets among which the proof looks for a cheapest partition: at all, and by GLPK.
  std::size_t max_columns = 500'000, max_programmed_columns = 60'000;
  /// Nodes of the search for a cheapest partition, before GLPK.
  std::int64_t cover_nodes = 20'000'000;
};

/// An optimal co-schedule.  Up to 16 tasks by subsets(); beyond, by the relaxation over sets, all
/// sets that a better partition may use, and a cheapest partition into them.  Where a time limit
/// (seconds) or the number of sets ends this, the best co-schedule so far and the bound that is
/// proved.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit,
                    const SharedOptimalParams& params = {});

/// What optimal() does under a time limit with more than 16 tasks, without a clock: the rounds of
/// local_search (seed 0) have `work` operations a task in all, and each look of the proof at the
/// sets has `nodes` of them.  Never costs more than local_search with the same work.
ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes,
                            const SharedOptimalParams& params = {});

/// The greater of the bound without sharing and the bound of the relaxation over sets, the latter
/// with a fixed amount of work.
columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit,
                          const SharedOptimalParams& params = {});

}  // namespace cosched::packs::shared
