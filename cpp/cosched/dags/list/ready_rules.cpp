#include "cosched/dags/list/ready_rules.hpp"

#include <functional>
#include <queue>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/idle_units.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::list {
namespace {

// The best start of a ready task at present, as a key: the task with the smallest offer is placed.
struct TaskOffer {
  double first_key = kInfinity, second_key = 0, third_key = 0;
  int task = -1, type = -1;
  bool operator>(const TaskOffer& other) const {
    return std::tie(first_key, second_key, third_key, task) >
           std::tie(other.first_key, other.second_key, other.third_key, other.task);
  }
};

// Repeatedly places the ready task with the smallest offer.  Units only get busier, so offers only
// grow: an offer that has not grown since it entered the queue is the smallest of all.
template <class Rule>
Plan schedule_by_offers(const Instance& instance, Rule offer) {
  const TaskGraph& graph = instance.graph();
  const int types = instance.types();
  IdleUnits units(instance);
  std::vector<DataArrival> arrivals(static_cast<std::size_t>(instance.tasks()) * types);
  const auto best_offer = [&](int task) {
    TaskOffer best;
    for (int type = 0; type < types; ++type) {
      if (!instance.can_run(task, type)) continue;
      const double start = units.earliest_start(type, arrivals[task * types + type]).time;
      const TaskOffer candidate = offer(task, type, start);
      if (best.task < 0 || !(candidate > best)) best = candidate;
    }
    return best;
  };
  std::priority_queue<TaskOffer, std::vector<TaskOffer>, std::greater<>> ready;
  const auto release = [&](int task) {
    for (int type = 0; type < types; ++type)
      arrivals[task * types + type] = units.data_arrival(task, type);
    ready.push(best_offer(task));
  };
  std::vector<int> missing_predecessors;
  for (int task = 0; task < graph.tasks(); ++task) {
    missing_predecessors.push_back(graph.predecessors(task).size());
    if (missing_predecessors[task] == 0) release(task);
  }
  for (int steps = 0; !ready.empty(); ++steps) {
    if (steps % 1024 == 0) check_interrupt();
    const TaskOffer old_offer = ready.top(), new_offer = best_offer(old_offer.task);
    ready.pop();
    if (new_offer > old_offer) {
      ready.push(new_offer);
      continue;
    }
    units.place(
        new_offer.task, new_offer.type,
        units.earliest_start(new_offer.type, arrivals[new_offer.task * types + new_offer.type]));
    for (const int next : graph.successors(new_offer.task)) {
      --missing_predecessors[next];
      if (missing_predecessors[next] == 0) release(next);
    }
  }
  return units.plan();
}

}  // namespace

Plan etf(const Instance& instance) {
  const std::vector<double> level = compute_ranks(instance.graph(), mean_times(instance));
  return schedule_by_offers(instance, [&](int task, int type, double start) {
    return TaskOffer{start, -level[task], start + instance.time(task, type), task, type};
  });
}

Plan min_min(const Instance& instance) {
  return schedule_by_offers(instance, [&](int task, int type, double start) {
    return TaskOffer{start + instance.time(task, type), 0, 0, task, type};
  });
}

Plan est_with_transfers(const Instance& instance, const Allocation& allocation) {
  return schedule_by_offers(instance, [&](int task, int type, double start) {
    return TaskOffer{type == allocation[task] ? start : kInfinity, 0, 0, task, type};
  });
}

}  // namespace cosched::dags::list
