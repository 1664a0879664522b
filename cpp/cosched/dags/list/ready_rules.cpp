#include "cosched/dags/list/ready_rules.hpp"

#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/idle_units.hpp"

namespace cosched::dags::list {
namespace {

// What a ready task can do now; the smallest is chosen.
struct Offer {
  double key = kInfinity, second = 0, third = 0;
  int task = -1, type = -1;
  bool operator>(const Offer& other) const {
    return std::tie(key, second, third, task) >
           std::tie(other.key, other.second, other.third, other.task);
  }
};

// Repeatedly the ready task of smallest offer.  Units only get busier, so an offer only grows: one
// that is still what the queue says is the smallest of all.
template <class Rule>
Plan choose_among_ready(const Instance& instance, Rule offer) {
  const TaskGraph& graph = instance.graph();
  const int types = instance.types();
  IdleUnits units(instance);
  std::vector<Arrival> arrivals(static_cast<std::size_t>(instance.tasks()) * types);
  const auto look = [&](int task) {
    Offer best;
    for (int type = 0; type < types; ++type) {
      if (!instance.can_run(task, type)) continue;
      const double start = units.earliest(type, arrivals[task * types + type]).time;
      const Offer one = offer(task, type, start);
      if (best.task < 0 || !(one > best)) best = one;
    }
    return best;
  };
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> ready;
  const auto release = [&](int task) {
    for (int type = 0; type < types; ++type)
      arrivals[task * types + type] = units.arrival(task, type);
    ready.push(look(task));
  };
  std::vector<int> waiting;
  for (int task = 0; task < graph.tasks(); ++task) {
    waiting.push_back(graph.predecessors(task).size());
    if (waiting[task] == 0) release(task);
  }
  for (int steps = 0; !ready.empty(); ++steps) {
    if (steps % 1024 == 0) check_interrupt();
    const Offer stale = ready.top(), now = look(stale.task);
    ready.pop();
    if (now > stale) {
      ready.push(now);
      continue;
    }
    units.place(now.task, now.type,
                units.earliest(now.type, arrivals[now.task * types + now.type]));
    for (const int next : graph.successors(now.task))
      if (--waiting[next] == 0) release(next);
  }
  return units.plan();
}

}  // namespace

Plan etf(const Instance& instance) {
  const std::vector<double> level = ranks(instance.graph(), mean_times(instance));
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{start, -level[task], start + instance.time(task, type), task, type};
  });
}

Plan min_min(const Instance& instance) {
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{start + instance.time(task, type), 0, 0, task, type};
  });
}

Plan est_with_transfers(const Instance& instance, const Allocation& allocation) {
  return choose_among_ready(instance, [&](int task, int type, double start) {
    return Offer{type == allocation[task] ? start : kInfinity, 0, 0, task, type};
  });
}

}  // namespace cosched::dags::list
