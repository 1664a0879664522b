// Optimum of tiny graphs by complete enumeration.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/instance.hpp"

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

}  // namespace cosched::dags
