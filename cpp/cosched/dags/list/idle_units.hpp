// Units as schedulers without insertion see them: each is idle from some time on.
#pragma once

#include <functional>
#include <queue>
#include <tuple>

#include "cosched/dags/list/data_arrival.hpp"

namespace cosched::dags::list {

/// A plan without insertion: a task is placed after all tasks of its unit, and after its
/// predecessors.
class IdleUnits {
 public:
  explicit IdleUnits(const Instance& instance);

  /// When and where a task can start on units of a type: the earliest start, equal: the unit that
  /// is idle earliest, equal: the lowest.
  struct EarliestStart {
    double time = kInfinity;
    double idle = kInfinity;
    int unit = -1;
    bool operator<(const EarliestStart& other) const {
      return std::tie(time, idle, unit) < std::tie(other.time, other.idle, other.unit);
    }
  };
  EarliestStart earliest_start(int task, int type) const {
    return earliest_start(type, data_arrival(task, type));
  }

  /// The same with the result of data_arrival(), which does not change once the predecessors are
  /// placed.
  EarliestStart earliest_start(int type, const DataArrival& ready) const;

  DataArrival data_arrival(int task, int type) const {
    return list::data_arrival(instance_, plan_, task, type);
  }

  void place(int task, int type, const EarliestStart& start);

  const Plan& plan() const { return plan_; }

 private:
  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<double>> idle_from_;  // from, of each unit of each type
  // (idle from, unit) of each type; an entry whose unit has been taken since may lie below the top.
  using Idle = std::pair<double, int>;
  std::vector<std::priority_queue<Idle, std::vector<Idle>, std::greater<>>> queue_;
};

}  // namespace cosched::dags::list
