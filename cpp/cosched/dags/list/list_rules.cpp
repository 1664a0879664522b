#include "cosched/dags/list/list_rules.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/list_with_transfers.hpp"
#include "cosched/dags/list/min_heap.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/list/unit_pool.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::list {
namespace {

std::vector<UnitPool> make_pools(const Instance& instance) {
  std::vector<UnitPool> pools;
  for (const int units : instance.units()) pools.emplace_back(std::min(units, instance.tasks()));
  return pools;
}

std::vector<int> count_predecessors(const TaskGraph& graph) {
  std::vector<int> predecessor_counts(graph.tasks());
  for (int task = 0; task < graph.tasks(); ++task)
    predecessor_counts[task] = graph.predecessors(task).size();
  return predecessor_counts;
}

std::vector<double> durations(const Instance& instance, const Allocation& allocation) {
  std::vector<double> duration(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    duration[task] = instance.time(task, allocation[task]);
  return duration;
}

std::vector<double> ranks_of_allocation(const Instance& instance, const Allocation& allocation) {
  const Transfers& transfers = instance.transfers();
  const std::vector<double> duration = durations(instance, allocation);
  if (transfers.is_free()) return compute_ranks(instance.graph(), duration);
  std::vector<double> rank(instance.tasks());
  const std::vector<int>& order = instance.graph().order();
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    double rest_of_path = 0;
    int edge = transfers.first_out_edge(*task);
    for (const int next : instance.graph().successors(*task))
      rest_of_path =
          std::max(rest_of_path,
                   transfers.least_cost(edge++, allocation[*task], allocation[next]) + rank[next]);
    rank[*task] = duration[*task] + rest_of_path;
  }
  return rank;
}

// Ready tasks of one type for EST.  The earliest idle time of a type never falls, so a task whose
// predecessors have ended before it stays in ready_now.
struct ReadyTasks {
  MinHeap<int> ready_now;                       // can start as soon as a unit is idle
  MinHeap<std::pair<double, int>> ready_later;  // (end of predecessors, task)

  // (earliest possible start, task) of the task that can start first; infinite: there is none.
  std::pair<double, int> best_start(double idle) {
    while (!ready_later.empty() && ready_later.top().first <= idle) {
      ready_now.push(ready_later.top().second);
      ready_later.pop();
    }
    if (!ready_now.empty()) return {idle, ready_now.top()};
    return ready_later.empty() ? std::pair(kInfinity, -1) : ready_later.top();
  }
  void pop_best() {
    if (ready_now.empty())
      ready_later.pop();
    else
      ready_now.pop();
  }
};

// The number of units of each type that can be busy at once.
std::vector<int> useful_unit_counts(const Instance& instance) {
  std::vector<int> units = instance.units();
  for (int& count : units) count = std::min(count, instance.tasks());
  return units;
}

}  // namespace

Plan est(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  if (!instance.transfers().is_free()) return est_with_transfers(instance, allocation);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<ReadyTasks> ready(instance.types());
  std::vector<int> missing_predecessors = count_predecessors(graph);
  std::vector<double> ready_time(instance.tasks(), 0);
  for (int task = 0; task < instance.tasks(); ++task)
    if (missing_predecessors[task] == 0) ready[allocation[task]].ready_later.emplace(0, task);

  for (int placed_tasks = 0; placed_tasks < instance.tasks(); ++placed_tasks) {
    if (placed_tasks % 4096 == 0) check_interrupt();
    std::pair<double, int> first{kInfinity, -1};
    for (int type = 0; type < instance.types(); ++type)
      first = std::min(first, ready[type].best_start(pools[type].earliest_idle()));
    const auto [start, task] = first;
    const int type = allocation[task];
    const double end = start + instance.time(task, type);
    ready[type].pop_best();
    plan.set(task, type, pools[type].take_unit(start, end), start, end);
    for (const int next : graph.successors(task)) {
      ready_time[next] = std::max(ready_time[next], end);
      --missing_predecessors[next];
      if (missing_predecessors[next] == 0)
        ready[allocation[next]].ready_later.emplace(ready_time[next], next);
    }
  }
  return plan;
}

Plan list_schedule(const Instance& instance, const Allocation& allocation,
                   const std::vector<double>& priority) {
  require_allocation(instance, allocation);
  if (!instance.transfers().is_free()) return list_with_transfers(instance, allocation, priority);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<int> free_units = useful_unit_counts(instance);
  std::vector<MinHeap<std::pair<double, int>>> ready(instance.types());  // (-priority, task)
  MinHeap<std::pair<double, int>> running;                               // (end, task)
  std::vector<int> missing_predecessors = count_predecessors(graph);
  for (int task = 0; task < instance.tasks(); ++task)
    if (missing_predecessors[task] == 0) ready[allocation[task]].emplace(-priority[task], task);

  double now = 0;
  for (int events = 0;; ++events) {
    if (events % 1024 == 0) check_interrupt();
    for (int type = 0; type < instance.types(); ++type)
      for (; free_units[type] > 0 && !ready[type].empty(); --free_units[type]) {
        const int task = ready[type].top().second;
        ready[type].pop();
        const double end = now + instance.time(task, type);
        plan.set(task, type, pools[type].take_unit(now, end), now, end);
        running.emplace(end, task);
      }
    if (running.empty()) return plan;
    for (now = running.top().first; !running.empty() && running.top().first == now; running.pop()) {
      const int task = running.top().second;
      ++free_units[allocation[task]];
      for (const int next : graph.successors(task)) {
        --missing_predecessors[next];
        if (missing_predecessors[next] == 0) ready[allocation[next]].emplace(-priority[next], next);
      }
    }
  }
}

Plan ols(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  return list_schedule(instance, allocation, ranks_of_allocation(instance, allocation));
}

}  // namespace cosched::dags::list
