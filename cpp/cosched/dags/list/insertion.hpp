// Schedules by insertion: each task in the first gap of a unit that is long enough.
#pragma once

#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/timeline.hpp"

namespace cosched::dags::list {

/// A place for a task in a plan.
struct TaskSlot {
  double end = kInfinity, start = kInfinity;
  int type = -1, unit = -1;
};

/// A plan that grows task by task, predecessors first.
class Insertion {
 public:
  explicit Insertion(const Instance& instance);

  /// Where the task starts first on units of the type, after its data has arrived; ties: the lowest
  /// unit.
  TaskSlot best_slot_on(int task, int type) const {
    return best_slot_on(task, type, data_arrival(instance_, plan_, task, type));
  }
  /// Where the task ends first on all types that can run it, or on its type in `allocation`; ties:
  /// the highest type.
  TaskSlot best_slot(int task, const Allocation* allocation = nullptr) const;
  /// The earliest start of the task on a unit.
  TaskSlot slot_on(int task, Place place) const;
  void place(int task, const TaskSlot& choice);
  /// Hands the plan over; nothing can be placed afterwards.
  Plan take_plan() { return std::move(plan_); }

 private:
  TaskSlot best_slot_on(int task, int type, const DataArrival& ready) const;

  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<Timeline>> units_;  // of each type
};

}  // namespace cosched::dags::list
