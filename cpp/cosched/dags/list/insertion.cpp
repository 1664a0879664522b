#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

double least_time(const Instance& instance, int type) {
  double least = kInfinity;
  for (int task = 0; task < instance.tasks(); ++task)
    if (instance.can_run(task, type)) least = std::min(least, instance.time(task, type));
  return least;
}

}  // namespace

Insertion::Insertion(const Instance& instance)
    : instance_(instance), plan_(instance.tasks()), units_(instance.types()) {
  for (int type = 0; type < instance.types(); ++type)
    units_[type].resize(useful_units(instance, type), Timeline(least_time(instance, type)));
}

// All units of a type need the same time, so the earliest start wins.
TaskSlot Insertion::best_slot_on(int task, int type, const DataArrival& ready) const {
  const double duration = instance_.time(task, type);
  const std::vector<Timeline>& units = units_[type];
  const int count = static_cast<int>(units.size());
  double earliest_start = kInfinity;
  int best_unit = -1;
  const auto offer_unit = [&](int unit, double start) {
    if (start < earliest_start || (start == earliest_start && unit < best_unit)) {
      earliest_start = start;
      best_unit = unit;
    }
  };
  if (ready.memory != kNoMemory)
    instance_.transfers().visit_units_in(type, ready.memory, [&](int unit) {
      if (unit < count) offer_unit(unit, units[unit].earliest(ready.in_memory, duration));
    });
  // On the units above this is no earlier than what they have offered.
  if (earliest_start >= ready.elsewhere)
    for (int unit = 0; unit < count; ++unit) {
      const double start = units[unit].earliest(ready.elsewhere, duration);
      offer_unit(unit, start);
      if (start == ready.elsewhere) break;
    }
  return {earliest_start + duration, earliest_start, type, best_unit};
}

TaskSlot Insertion::best_slot(int task, const Allocation* allocation) const {
  TaskSlot best;
  const bool is_same_everywhere =
      instance_.transfers().is_free();  // of the types: all data is everywhere
  DataArrival arrival;
  if (is_same_everywhere) arrival = data_arrival(instance_, plan_, task, 0);
  for (int type = 0; type < instance_.types(); ++type) {
    if (!instance_.can_run(task, type) || (allocation && (*allocation)[task] != type)) continue;
    if (!is_same_everywhere) arrival = data_arrival(instance_, plan_, task, type);
    const TaskSlot choice = best_slot_on(task, type, arrival);
    if (choice.end <= best.end) best = choice;
  }
  return best;
}

TaskSlot Insertion::slot_on(int task, Place place) const {
  const double duration = instance_.time(task, place.type);
  const double start = units_[place.type][place.unit].earliest(
      data_arrival_at(instance_, plan_, task, place), duration);
  return {start + duration, start, place.type, place.unit};
}

void Insertion::place(int task, const TaskSlot& choice) {
  units_[choice.type][choice.unit].occupy(choice.start, choice.end);
  plan_.set(task, choice.type, choice.unit, choice.start, choice.end);
}

}  // namespace cosched::dags::list
