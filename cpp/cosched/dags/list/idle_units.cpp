#include "cosched/dags/list/idle_units.hpp"

namespace cosched::dags::list {

IdleUnits::IdleUnits(const Instance& instance)
    : instance_(instance),
      plan_(instance.tasks()),
      idle_from_(instance.types()),
      queue_(instance.types()) {
  for (int type = 0; type < instance.types(); ++type) {
    idle_from_[type].assign(useful_units(instance, type), 0);
    for (int unit = 0; unit < static_cast<int>(idle_from_[type].size()); ++unit)
      queue_[type].emplace(0, unit);
  }
}

IdleUnits::EarliestStart IdleUnits::earliest_start(int type, const DataArrival& ready) const {
  const auto [idle, unit] = queue_[type].top();
  EarliestStart best{std::max(idle, ready.elsewhere), idle, unit};
  if (ready.memory == kNoMemory) return best;
  instance_.transfers().visit_units_in(type, ready.memory, [&](int unit_near) {
    if (unit_near >= static_cast<int>(idle_from_[type].size())) return;
    const double from = idle_from_[type][unit_near];
    best = std::min(best, EarliestStart{std::max(from, ready.in_memory), from, unit_near});
  });
  return best;
}

void IdleUnits::place(int task, int type, const EarliestStart& start) {
  const double end = start.time + instance_.time(task, type);
  auto& queue = queue_[type];
  idle_from_[type][start.unit] = end;
  queue.emplace(end, start.unit);
  while (queue.top().first != idle_from_[type][queue.top().second]) queue.pop();
  plan_.set(task, type, start.unit, start.time, end);
}

}  // namespace cosched::dags::list
