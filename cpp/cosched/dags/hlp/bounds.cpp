#include "cosched/dags/hlp/bounds.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::hlp {

double critical_path_bound(const Instance& instance) {
  std::vector<double> duration;
  for (int task = 0; task < instance.tasks(); ++task)
    duration.push_back(instance.time(task, instance.fastest_type(task)));
  const std::vector<double> end = compute_earliest_ends(instance.graph(), duration);
  return *std::max_element(end.begin(), end.end());
}

double memory_bound(const Instance& instance) {
  constexpr int kMaxPathTasks = 2000;  // beyond, the O(n^2) pairs of tasks take seconds
  const Transfers& transfers = instance.transfers();
  if (!transfers.has_memory_limits()) return 0;
  std::map<std::int64_t, double> capacity;
  for (int type = 0; type < instance.types(); ++type)
    for (int unit = 0; unit < instance.units(type); ++unit)
      capacity[transfers.memory({type, unit})] = transfers.capacity({type, unit});
  double capacity_sum = 0;
  for (const auto& [memory, bytes] : capacity) capacity_sum += bytes;
  if (capacity_sum == kInfinity || capacity_sum <= 0) return 0;
  const TaskGraph& graph = instance.graph();
  std::vector<double> least(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    least[task] = instance.time(task, instance.fastest_type(task));
  double byte_seconds = 0;                    // bytes x seconds
  std::vector<double> end(instance.tasks());  // of the longest path from the begin of a task
  for (int first = 0; first < instance.tasks(); ++first) {
    int edge = transfers.first_out_edge(first);
    if (instance.tasks() <= kMaxPathTasks && graph.successors(first).size() > 0) {
      check_interrupt();
      std::fill(end.begin(), end.end(), -kInfinity);
      end[first] = least[first];
      for (const int task : graph.order())
        for (const int next : graph.successors(task))
          end[next] = std::max(end[next], end[task] + least[next]);
    }
    for (const int next : graph.successors(first))
      byte_seconds += transfers.data()[edge++] *
                      (instance.tasks() <= kMaxPathTasks ? end[next] : least[first] + least[next]);
  }
  return byte_seconds / capacity_sum * (1 - kExactTolerance);  // a bound in spite of rounding
}

}  // namespace cosched::dags::hlp
