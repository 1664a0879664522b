// Units as schedulers without insertion see them: each is idle from some time on.
#pragma once

#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/arrival.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// A plan that grows at its end, predecessors first.
class IdleUnits {
 public:
  explicit IdleUnits(const Instance& instance);

  /// When and where a task can start on units of a type: the earliest start, equal: the unit that is
  /// idle earliest, equal: the lowest.
  struct Start {
    double time = kInfinity;
    double idle = kInfinity;
    int unit = -1;
    bool operator<(const Start& other) const {
      return std::tie(time, idle, unit) < std::tie(other.time, other.idle, other.unit);
    }
  };
  Start earliest(int task, int type) const { return earliest(type, arrival(task, type)); }
  /// The same with what arrival() says, which does not change once the predecessors are placed.
  Start earliest(int type, const Arrival& ready) const;
  Arrival arrival(int task, int type) const { return list::arrival(instance_, plan_, task, type); }

  void place(int task, int type, const Start& start);
  const Plan& plan() const { return plan_; }

 private:
  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<double>> idle_;  // from, of each unit of each type
  // (idle from, unit) of each type; an entry whose unit has been taken since may lie below the top.
  using Idle = std::pair<double, int>;
  std::vector<std::priority_queue<Idle, std::vector<Idle>, std::greater<>>> queue_;
};

}  // namespace cosched::dags::list
