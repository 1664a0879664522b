#include "cosched/dags/hlp/bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/hlp/area.hpp"

namespace cosched::dags::hlp {

double area_bound(const Instance& instance) {
  const AreaOptimum area = balance_loads(instance);
  // What the weights prove, not what x reaches: a bound in spite of rounding.
  double bound = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type))
        least =
            std::min(least, instance.time(task, type) * area.weights[type] / instance.units(type));
    bound += least;
  }
  return bound;
}

double critical_path_bound(const Instance& instance) {
  std::vector<double> duration;
  for (int task = 0; task < instance.tasks(); ++task)
    duration.push_back(instance.time(task, instance.fastest(task)));
  const std::vector<double> end = earliest_ends(instance.graph(), duration);
  return *std::max_element(end.begin(), end.end());
}

double memory_bound(const Instance& instance) {
  constexpr int kPaths = 2000;  // tasks
  const Transfers& transfers = instance.transfers();
  if (!transfers.limited()) return 0;
  std::map<std::int64_t, double> capacity;
  for (int type = 0; type < instance.types(); ++type)
    for (int unit = 0; unit < instance.units(type); ++unit)
      capacity[transfers.memory({type, unit})] = transfers.capacity({type, unit});
  double room = 0;
  for (const auto& [memory, bytes] : capacity) room += bytes;
  if (room == kInfinity || room <= 0) return 0;
  const TaskGraph& graph = instance.graph();
  std::vector<double> least(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    least[task] = instance.time(task, instance.fastest(task));
  double need = 0;                            // bytes x seconds
  std::vector<double> end(instance.tasks());  // of the longest path from the begin of a task
  for (int first = 0; first < instance.tasks(); ++first) {
    int edge = transfers.first_out(first);
    if (instance.tasks() <= kPaths && graph.successors(first).size() > 0) {
      check_interrupt();
      std::fill(end.begin(), end.end(), -kInfinity);
      end[first] = least[first];
      for (const int task : graph.order())
        for (const int next : graph.successors(task))
          end[next] = std::max(end[next], end[task] + least[next]);
    }
    for (const int next : graph.successors(first))
      need += transfers.data()[edge++] *
              (instance.tasks() <= kPaths ? end[next] : least[first] + least[next]);
  }
  return need / room * (1 - kExactTolerance);  // a bound in spite of rounding
}

}  // namespace cosched::dags::hlp
