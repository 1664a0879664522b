// What the relaxation (6) says at a makespan: where the searches of ttb-best begin.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::search {

struct Probe {
  double makespan;
  std::vector<double> price;  // joules a second of each machine type
};

/// Requires falling makespans; those below the least one of the relaxation are left out.
inline std::vector<Probe> probe(const Instance& instance, const std::vector<double>& makespans) {
  std::vector<Probe> probes;
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         while (probes.size() < makespans.size() && makespans[probes.size()] >= low)
                           probes.push_back({makespans[probes.size()], walk.prices()});
                         return probes.size() < makespans.size();
                       });
  return probes;
}

/// What a task of each type is worth at those prices: its least cost in energy and machine time.
inline std::vector<double> task_values(const Instance& instance, const Probe& at) {
  std::vector<double> value(instance.types(), 0);
  for (int i = 0; i < instance.types(); ++i) {
    if (instance.count(i) == 0) continue;
    value[i] = kInfinity;
    for (int j = 0; j < instance.machine_types(); ++j)
      if (instance.etc(i, j) <= at.makespan)
        value[i] = std::min(value[i], instance.joules(i, j) + at.price[j] * instance.etc(i, j));
  }
  return value;
}

}  // namespace cosched::bags::search
