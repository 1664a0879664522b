#include "cosched/dags/list/idle_units.hpp"

#include <algorithm>

namespace cosched::dags::list {

IdleUnits::IdleUnits(const Instance& instance)
    : instance_(instance),
      plan_(instance.tasks()),
      idle_(instance.types()),
      queue_(instance.types()) {
  for (int type = 0; type < instance.types(); ++type) {
    idle_[type].assign(useful_units(instance, type), 0);
    for (int unit = 0; unit < static_cast<int>(idle_[type].size()); ++unit)
      queue_[type].emplace(0, unit);
  }
}

IdleUnits::Start IdleUnits::earliest(int type, const Arrival& ready) const {
  const auto [idle, unit] = queue_[type].top();
  Start best{std::max(idle, ready.elsewhere), idle, unit};
  if (ready.memory == kNoMemory) return best;
  instance_.transfers().each_unit(type, ready.memory, [&](int near) {
    if (near >= static_cast<int>(idle_[type].size())) return;
    const double from = idle_[type][near];
    best = std::min(best, Start{std::max(from, ready.home), from, near});
  });
  return best;
}

void IdleUnits::place(int task, int type, const Start& start) {
  const double end = start.time + instance_.time(task, type);
  auto& queue = queue_[type];
  idle_[type][start.unit] = end;
  queue.emplace(end, start.unit);
  while (queue.top().first != idle_[type][queue.top().second]) queue.pop();
  plan_.set(task, type, start.unit, start.time, end);
}

}  // namespace cosched::dags::list
