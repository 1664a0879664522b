
#pragma once

#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/list/memory_profile.hpp"

namespace cosched::dags::list {

/// Insertion (insertion.hpp) where memories are limited.  The output of a placed task stays in
/// memory until all its successors are placed.
class MemoryInsertion {
 public:
  /// Requires instance.transfers().has_data().
  explicit MemoryInsertion(const Instance& instance);

  /// The earliest start of a task on a unit; infinite where its data never fits.  Requires that its
  /// predecessors are placed.
  TaskSlot slot_on(int task, Place place) const;

  /// Where the task ends first; ties: the highest type, then the lowest unit.  Infinite where its
  /// data fits nowhere.
  TaskSlot best_slot(int task) const;

  void place(int task, const TaskSlot& choice);

  const Plan& plan() const { return plan_; }

 private:
  int memory_of(Place place) const { return memory_of_unit_[place.type][place.unit]; }

  MemoryDemand demand_of(int task, Place place) const;
  double fetch_seconds(int edge, int before, Place place) const {
    return instance_.transfers().cost(edge, {plan_.kind[before], plan_.unit[before]}, place);
  }

  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<Timeline>> units_;      // of each type
  std::vector<std::vector<int>> memory_of_unit_;  // of each type and unit: index into profiles_
  std::vector<MemoryProfile> profiles_;
};

}  // namespace cosched::dags::list
