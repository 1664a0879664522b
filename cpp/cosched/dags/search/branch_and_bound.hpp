// Branch and bound over schedules in the order of their starts, for a dozen tasks.
//
// A node of the search is a partial schedule.  Its children place one more task that starts no
// earlier than all tasks before it, on one unit of each group of alike units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::search {

struct OptimalResult {
  Plan plan;                ///< the best schedule so far
  double bound = 0;         ///< seconds; the makespan of `plan` where is_proved
  bool is_proved = false;   ///< no schedule is shorter by more than kExactTolerance
  bool is_complete = true;  ///< false: a time limit ended the search
  /// Where is_proved is false: whether `bound` is transfers_bound(); otherwise it is
  /// windows_bound().
  bool is_transfers_bound = false;
  std::string failure;     ///< why a solver failed, as HlpBestResult::solver_failure(); empty: none
  std::int64_t nodes = 0;  ///< partial schedules examined
};

/// Limits of memory.
struct BranchAndBoundParams {
  std::size_t max_state_bytes = std::size_t{1} << 28;    ///< of states kept for dominance
  std::size_t max_open_children = std::size_t{1} << 22;  ///< of all levels, some 50 bytes each
};

/// Improves best.plan, which must be a feasible schedule, until no schedule is shorter by more than
/// kExactTolerance (returns true), or until `max_nodes` partial schedules are examined or the
/// memory of `params` is used up (returns false).  best.nodes counts the partial schedules.
///
/// The search goes through all schedules whose starts are as early as data and units allow, in the
/// order of their starts, and leaves out
///   - partial schedules that cannot become shorter than the best: by the longest path of least
///     times from the earliest start on each type, or because the types on which the remaining
///     tasks still fit need more time than the units have left, at some prices of a second of each
///     type;
///   - partial schedules that an earlier one dominates: it has placed the same tasks, no unit idles
///     later and no data arrives later in any memory.  Memories with the same units are exchanged;
///   - a task that could start before the last start, because it comes earlier in another order;
///     and, where transfers are free, a task that starts after another one could have ended.
///
/// `prices` >= 0 of a second of each type are tried for loads besides those of single types.
/// `pause` is called every 64 nodes, and may put a better plan into `best`.  An exception of
/// check_interrupt() leaves the best plan so far in `best`.
bool branch_and_bound(const Instance& instance, const std::vector<double>& prices,
                      OptimalResult& best, std::int64_t max_nodes,
                      const std::function<void()>& pause = {},
                      const BranchAndBoundParams& params = {});

}  // namespace cosched::dags::search
