// Replays of a plan under other times than those for which it was made.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::search {

/// What a replay keeps of a plan.
enum class ReplayRule {
  units,  ///< the unit of each task, and the order on each unit
  /// The type of each task.  An idle unit takes, of the tasks whose data has arrived, the one that
  /// the plan starts first: Graham's list scheduling (list_rules.hpp).
  list,
};

class Replay {
 public:
  /// `plan`: valid for the graph and units of `instance`; only the order of its times matters.
  Replay(const Instance& instance, const Plan& plan, ReplayRule rule);

  /// Starts each task as early as its data and its unit allow.  `instance` has the same graph and
  /// units, with other times or transfers.  With ReplayRule::units and the times of the plan the
  /// result is the plan itself, if nothing in it could start earlier.  O(n + e) with
  /// ReplayRule::units, otherwise as list_schedule().
  Plan run(const Instance& instance) const;

 private:
  const Plan& plan_;
  ReplayRule rule_;
  std::vector<int> order_;  // by start, each task after its predecessors
};

}  // namespace cosched::dags::search
