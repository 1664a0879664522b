#include "cosched/dags/search/replay.hpp"

#include <queue>
#include <tuple>

#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/list_rules.hpp"

namespace cosched::dags::search {
namespace {

// The tasks by (start, end), but each after its predecessors: within the tolerance of the validator
// a task may start before its predecessor has ended.
std::vector<int> precedence_order_by_start(const TaskGraph& graph, const Plan& plan) {
  using StartEntry = std::tuple<double, double, int>;
  std::priority_queue<StartEntry, std::vector<StartEntry>, std::greater<>> ready;
  std::vector<int> missing_predecessors(graph.tasks()), order;
  std::vector<int> topological_position(graph.tasks());
  for (int k = 0; k < graph.tasks(); ++k) topological_position[graph.order()[k]] = k;
  const auto release = [&](int task) {
    ready.emplace(plan.start[task], plan.end[task], topological_position[task]);
  };
  for (int task = 0; task < graph.tasks(); ++task) {
    missing_predecessors[task] = graph.predecessors(task).size();
    if (missing_predecessors[task] == 0) release(task);
  }
  while (!ready.empty()) {
    const int task = graph.order()[std::get<2>(ready.top())];
    ready.pop();
    order.push_back(task);
    for (const int next : graph.successors(task)) {
      --missing_predecessors[next];
      if (missing_predecessors[next] == 0) release(next);
    }
  }
  return order;
}

Plan replay_on_units(const Instance& instance, const Plan& before, const std::vector<int>& order) {
  Plan plan(instance.tasks());
  std::vector<std::vector<double>> idle;  // from when on, of each type and unit
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  for (const int task : order) {
    const Place place{before.kind[task], before.unit[task]};
    double& free = idle[place.type][place.unit];
    const double start = std::max(free, list::data_arrival_at(instance, plan, task, place));
    free = start + instance.time(task, place.type);
    plan.set(task, place.type, place.unit, start, free);
  }
  return plan;
}

}  // namespace

Replay::Replay(const Instance& instance, const Plan& plan, ReplayRule rule)
    : plan_(plan), rule_(rule), order_(precedence_order_by_start(instance.graph(), plan)) {}

Plan Replay::run(const Instance& instance) const {
  if (rule_ == ReplayRule::units) return replay_on_units(instance, plan_, order_);
  std::vector<double> priority(instance.tasks());
  for (std::size_t k = 0; k < order_.size(); ++k) priority[order_[k]] = -static_cast<double>(k);
  return list::list_schedule(instance, plan_.kind, priority);
}

}  // namespace cosched::dags::search
