// Optimum of tiny graphs by complete enumeration.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"

namespace cosched::dags {

/// Every allocation, every order of starts: some optimal schedule starts its tasks one by one, each
/// as soon as its predecessors have ended and the unit of its type that is idle first is idle.
inline double brute_force(const Instance& instance) {
  double best = kInfinity;
  std::vector<double> ends(instance.tasks(), 0.0);
  std::vector<char> done(instance.tasks(), 0);
  std::vector<std::vector<double>> idle;
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  const std::function<void(int, double, double)> search = [&](int placed, double last,
                                                              double end_of_all) {
    if (end_of_all >= best) return;
    if (placed == instance.tasks()) {
      best = end_of_all;
      return;
    }
    for (int task = 0; task < instance.tasks(); ++task) {
      if (done[task]) continue;
      double ready = 0;
      bool free = true;
      for (const int before : instance.graph().predecessors(task)) {
        free = free && done[before];
        ready = std::max(ready, ends[before]);
      }
      if (!free) continue;
      for (int type = 0; type < instance.types(); ++type) {
        if (!instance.can_run(task, type)) continue;
        auto unit = std::min_element(idle[type].begin(), idle[type].end());
        const double before = *unit, start = std::max(ready, before);
        if (start < last) continue;  // this order of starts comes elsewhere
        const double end = start + instance.time(task, type);
        *unit = end;
        done[task] = 1;
        ends[task] = end;
        search(placed + 1, start, std::max(end_of_all, end));
        done[task] = 0;
        *unit = before;
      }
    }
  };
  search(0, 0, 0);
  return best;
}

/// The same where data costs time: every unit of every type, which is one by one.
inline double brute_force_with_transfers(const Instance& instance) {
  double best = kInfinity;
  Plan plan(instance.tasks());
  std::vector<std::vector<double>> idle;
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  const auto seconds = check::requirements(instance).transfer;
  const std::vector<Edge> edges = check::requirements(instance).edges;
  const auto ready = [&](int task, int type, int unit) {
    double time = 0;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const auto [from, to] = edges[k];
      if (to != task) continue;
      if (plan.kind[from] < 0) return kInfinity;
      time = std::max(time, plan.end[from] + seconds(static_cast<int>(k), plan.kind[from],
                                                     plan.unit[from], type, unit));
    }
    return time;
  };
  const std::function<void(int, double, double)> search = [&](int placed, double last,
                                                              double end_of_all) {
    if (end_of_all >= best) return;
    if (placed == instance.tasks()) {
      best = end_of_all;
      return;
    }
    for (int task = 0; task < instance.tasks(); ++task)
      for (int type = 0; plan.kind[task] < 0 && type < instance.types(); ++type)
        for (int unit = 0; instance.can_run(task, type) && unit < instance.units(type); ++unit) {
          const double before = idle[type][unit];
          const double start = std::max(before, ready(task, type, unit));
          if (start < last || start == kInfinity) continue;
          const double end = start + instance.time(task, type);
          idle[type][unit] = end;
          plan.set(task, type, unit, start, end);
          search(placed + 1, start, std::max(end_of_all, end));
          plan.kind[task] = -1;
          idle[type][unit] = before;
        }
  };
  search(0, 0, 0);
  return best;
}

}  // namespace cosched::dags
