#include "cosched/dags/list/memory_insertion.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::dags::list {

MemoryInsertion::MemoryInsertion(const Instance& instance)
    : instance_(instance),
      plan_(instance.tasks()),
      units_(instance.types()),
      memory_of_unit_(instance.types()) {
  COSCHED_ASSERT(instance.transfers().has_data());
  std::map<std::int64_t, int> number;
  for (int type = 0; type < instance.types(); ++type) {
    units_[type].resize(useful_units(instance, type));
    for (int unit = 0; unit < static_cast<int>(units_[type].size()); ++unit) {
      const Place place{type, unit};
      const auto [entry, is_new] =
          number.emplace(instance.transfers().memory(place), static_cast<int>(profiles_.size()));
      if (is_new) profiles_.emplace_back(instance.transfers().capacity(place));
      memory_of_unit_[type].push_back(entry->second);
    }
  }
}

TaskSlot MemoryInsertion::slot_on(int task, Place place) const {
  const double duration = instance_.time(task, place.type);
  const MemoryDemand memory_demand = demand_of(task, place);
  const MemoryProfile& memory = profiles_[memory_of(place)];
  double start = data_arrival_at(instance_, plan_, task, place);
  for (;;) {
    const double idle = units_[place.type][place.unit].earliest(start, duration);
    start = memory.earliest_start(idle, duration, memory_demand);
    if (start == idle) return {start + duration, start, place.type, place.unit};
    if (start == kInfinity) return {};
  }
}

TaskSlot MemoryInsertion::best_slot(int task) const {
  TaskSlot best;
  for (int type = 0; type < instance_.types(); ++type) {
    if (!instance_.can_run(task, type)) continue;
    TaskSlot best_on_type;
    for (int unit = 0; unit < static_cast<int>(units_[type].size()); ++unit)
      if (const TaskSlot choice = slot_on(task, {type, unit}); choice.start < best_on_type.start)
        best_on_type = choice;
    if (best_on_type.type >= 0 && best_on_type.end <= best.end) best = best_on_type;
  }
  return best;
}

void MemoryInsertion::place(int task, const TaskSlot& choice) {
  const Place place{choice.type, choice.unit};
  const int own_memory = memory_of(place);
  const int* edge = instance_.transfers().in_edges(task);
  for (const int before : instance_.graph().predecessors(task)) {
    const int number = *edge++;
    const double bytes = instance_.transfers().data()[number];
    const int sender_memory = memory_of({plan_.kind[before], plan_.unit[before]});
    profiles_[sender_memory].add_bytes(own_memory == sender_memory ? choice.end : choice.start,
                                       -bytes);
    if (own_memory != sender_memory)
      profiles_[own_memory].add_bytes(choice.start - fetch_seconds(number, before, place), bytes,
                                      choice.end);
  }
  profiles_[own_memory].add_bytes(choice.start, demand_of(task, place).output_bytes);
  units_[choice.type][choice.unit].occupy(choice.start, choice.end);
  plan_.set(task, choice.type, choice.unit, choice.start, choice.end);
}

MemoryDemand MemoryInsertion::demand_of(int task, Place place) const {
  const Transfers& transfers = instance_.transfers();
  MemoryDemand demand;
  const int* edge = transfers.in_edges(task);
  for (const int before : instance_.graph().predecessors(task)) {
    const int number = *edge++;
    if (memory_of({plan_.kind[before], plan_.unit[before]}) == memory_of(place)) continue;
    const double bytes = transfers.data()[number];
    if (bytes == 0) continue;
    demand.fetched.emplace_back(fetch_seconds(number, before, place), bytes);
    demand.fetched_bytes += bytes;
  }
  std::sort(demand.fetched.begin(), demand.fetched.end(), std::greater<>());
  int out = transfers.first_out_edge(task);
  for (int k = 0; k < instance_.graph().successors(task).size(); ++k)
    demand.output_bytes += transfers.data()[out++];
  return demand;
}

}  // namespace cosched::dags::list
