// optimal: branch and bound over schedules in the order of their starts, for a dozen tasks.
#pragma once

#include <functional>
#include <optional>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::search {

struct OptimalOptions {
  /// Partial schedules that are looked at.
  std::int64_t nodes = 5'000'000;
  std::optional<double> time_limit;
};

struct OptimalResult {
  Plan plan;
  double bound = 0;      // the makespan where it is proved, else what hlp_best proved
  bool moving = false;   // by transfers_bound, else windows_bound; of no matter where proved
  bool proved = false;   // nothing is shorter by more than kExactTolerance
  bool complete = true;  // false: a time limit ended the search
  std::string failure;   // of a solver, as of BestResult
  std::int64_t nodes = 0;
};

/// Every schedule in the order of its starts, each start as early as its data and a unit allow,
/// except
///   - what is no shorter than the best plan: by paths of least times from the earliest start on
///     each type, and by the loads of the types that this leaves, in what the units have left;
///   - what an earlier one dominates: the same tasks placed, no unit idle later, no data later in
///     any
///     memory.  Memories that nothing tells apart are one;
///   - a task that could start before the last start: it comes earlier in another order; and, where
///     data moves for free, one that starts after another could have ended.
/// Requires best.plan, and leaves the best in it.  `prices` >= 0 of a second of each type: a row of
/// loads that is tried besides those of single types.  True: gone through, none is shorter by more
/// than kExactTolerance; false: out of nodes, which best.nodes counts, or of the half GB that states
/// and open branches may take.  May be left by an exception of check_interrupt().  `pause` is called
/// now and then, and may put a better plan into `best`.
bool branch_and_bound(const Instance& instance, const std::vector<double>& prices,
                      OptimalResult& best, std::int64_t most_nodes,
                      const std::function<void()>& pause = {});

/// hlp_best with few schedules, which proves most plans of a dozen tasks optimal, then branch and
/// bound.
OptimalResult optimal(const Instance& instance, const OptimalOptions& options = {});

}  // namespace cosched::dags::search
