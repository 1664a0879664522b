#include "cosched/dags/list/list_rules.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/list_transfers.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/list/unit_pool.hpp"

namespace cosched::dags::list {
namespace {

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

std::vector<UnitPool> make_pools(const Instance& instance) {
  std::vector<UnitPool> pools;
  for (const int units : instance.units()) pools.emplace_back(std::min(units, instance.tasks()));
  return pools;
}

std::vector<int> count_predecessors(const TaskGraph& graph) {
  std::vector<int> waiting(graph.tasks());
  for (int task = 0; task < graph.tasks(); ++task) waiting[task] = graph.predecessors(task).size();
  return waiting;
}

std::vector<double> durations(const Instance& instance, const Allocation& allocation) {
  std::vector<double> duration(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    duration[task] = instance.time(task, allocation[task]);
  return duration;
}

std::vector<double> ranks_of(const Instance& instance, const Allocation& allocation) {
  const Transfers& transfers = instance.transfers();
  const std::vector<double> duration = durations(instance, allocation);
  if (transfers.free()) return ranks(instance.graph(), duration);
  std::vector<double> rank(instance.tasks());
  const std::vector<int>& order = instance.graph().order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    double after = 0;
    int edge = transfers.first_out(*it);
    for (const int next : instance.graph().successors(*it))
      after = std::max(after,
                       transfers.type_cost(edge++, allocation[*it], allocation[next]) + rank[next]);
    rank[*it] = duration[*it] + after;
  }
  return rank;
}

// Ready tasks of one type for EST.  The earliest idle time of a type never goes back, so
// a task whose predecessors ended before it stays in `now`.
struct ReadyTasks {
  MinHeap<int> now;                       // could start as soon as a unit is idle
  MinHeap<std::pair<double, int>> later;  // (end of predecessors, task)

  /// (earliest possible start, task) of the best task, infinite if there is none.
  std::pair<double, int> best(double idle) {
    while (!later.empty() && later.top().first <= idle) {
      now.push(later.top().second);
      later.pop();
    }
    if (!now.empty()) return {idle, now.top()};
    return later.empty() ? std::pair(kInfinity, -1) : later.top();
  }
  void pop() { now.empty() ? later.pop() : now.pop(); }
};

// Units of each type that can be busy at once.
std::vector<int> units_for_tasks(const Instance& instance) {
  std::vector<int> units = instance.units();
  for (int& some : units) some = std::min(some, instance.tasks());
  return units;
}

}  // namespace

Plan est(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  if (!instance.transfers().free()) return est_with_transfers(instance, allocation);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<ReadyTasks> ready(instance.types());
  std::vector<int> waiting = count_predecessors(graph);
  std::vector<double> released(instance.tasks(), 0);
  for (int task = 0; task < instance.tasks(); ++task)
    if (waiting[task] == 0) ready[allocation[task]].later.emplace(0, task);

  for (int done = 0; done < instance.tasks(); ++done) {
    if (done % 4096 == 0) check_interrupt();
    std::pair<double, int> first{kInfinity, -1};
    for (int type = 0; type < instance.types(); ++type)
      first = std::min(first, ready[type].best(pools[type].earliest()));
    const auto [start, task] = first;
    const int type = allocation[task];
    const double end = start + instance.time(task, type);
    ready[type].pop();
    plan.set(task, type, pools[type].take(start, end), start, end);
    for (const int next : graph.successors(task)) {
      released[next] = std::max(released[next], end);
      if (--waiting[next] == 0) ready[allocation[next]].later.emplace(released[next], next);
    }
  }
  return plan;
}

Plan list_schedule(const Instance& instance, const Allocation& allocation,
                   const std::vector<double>& priority) {
  require_allocation(instance, allocation);
  if (!instance.transfers().free()) return list_with_transfers(instance, allocation, priority);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<UnitPool> pools = make_pools(instance);
  std::vector<int> free_units = units_for_tasks(instance);
  std::vector<MinHeap<std::pair<double, int>>> ready(instance.types());  // (-priority, task)
  MinHeap<std::pair<double, int>> running;                               // (end, task)
  std::vector<int> waiting = count_predecessors(graph);
  for (int task = 0; task < instance.tasks(); ++task)
    if (waiting[task] == 0) ready[allocation[task]].emplace(-priority[task], task);

  double now = 0;
  for (int events = 0;; ++events) {
    if (events % 1024 == 0) check_interrupt();
    for (int type = 0; type < instance.types(); ++type)
      for (; free_units[type] > 0 && !ready[type].empty(); --free_units[type]) {
        const int task = ready[type].top().second;
        ready[type].pop();
        const double end = now + instance.time(task, type);
        plan.set(task, type, pools[type].take(now, end), now, end);
        running.emplace(end, task);
      }
    if (running.empty()) return plan;
    for (now = running.top().first; !running.empty() && running.top().first == now; running.pop()) {
      const int task = running.top().second;
      ++free_units[allocation[task]];
      for (const int next : graph.successors(task))
        if (--waiting[next] == 0) ready[allocation[next]].emplace(-priority[next], next);
    }
  }
}

Plan ols(const Instance& instance, const Allocation& allocation) {
  require_allocation(instance, allocation);
  return list_schedule(instance, allocation, ranks_of(instance, allocation));
}

}  // namespace cosched::dags::list
