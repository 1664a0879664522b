#include "cosched/dags/search/replay.hpp"

#include <queue>
#include <tuple>

#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/windows.hpp"

namespace cosched::dags::search {
namespace {

constexpr double kDrawPrecision = 1e-3;  // a spread over draws asks for no more

// By (start, end), as far as precedence allows: within the validator's tolerance a task may start
// before its predecessor has ended.
std::vector<int> order_of(const TaskGraph& graph, const Plan& plan) {
  using Entry = std::tuple<double, double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> missing(graph.tasks()), order;
  std::vector<int> place(graph.tasks());
  for (int k = 0; k < graph.tasks(); ++k) place[graph.order()[k]] = k;
  const auto release = [&](int task) {
    ready.emplace(plan.start[task], plan.end[task], place[task]);
  };
  for (int task = 0; task < graph.tasks(); ++task)
    if ((missing[task] = graph.predecessors(task).size()) == 0) release(task);
  while (!ready.empty()) {
    const int task = graph.order()[std::get<2>(ready.top())];
    ready.pop();
    order.push_back(task);
    for (const int next : graph.successors(task))
      if (--missing[next] == 0) release(next);
  }
  return order;
}

Plan on_the_same_units(const Instance& instance, const Plan& before,
                       const std::vector<int>& order) {
  Plan plan(instance.tasks());
  std::vector<std::vector<double>> idle;  // from, of each unit
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  for (const int task : order) {
    const Place place{before.kind[task], before.unit[task]};
    double& free = idle[place.type][place.unit];
    const double start = std::max(free, list::arrival_at(instance, plan, task, place));
    free = start + instance.time(task, place.type);
    plan.set(task, place.type, place.unit, start, free);
  }
  return plan;
}

Instance with_factors(const Instance& instance, const double* factor) {
  Table times = instance.times();
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type) times(task, type) *= factor[task];
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

double bound_of(const Instance& instance, const hlp::Certificate& relaxation) {
  proof::BoundOptions options;
  options.precision = kDrawPrecision;
  const proof::WindowsBound windows = proof::windows_bound(instance, relaxation, options);
  check_interrupt();  // the bounds return at a limit
  if (instance.transfers().free()) return windows.value;
  const double moving = proof::transfers_bound(instance, windows.certificate, options).value;
  check_interrupt();
  return std::max(windows.value, moving);
}

}  // namespace

Replay::Replay(const Instance& instance, const Plan& plan, Kept kept)
    : plan_(plan), kept_(kept), order_(order_of(instance.graph(), plan)) {}

Plan Replay::run(const Instance& instance) const {
  if (kept_ == Kept::units) return on_the_same_units(instance, plan_, order_);
  std::vector<double> priority(instance.tasks());
  for (std::size_t k = 0; k < order_.size(); ++k) priority[order_[k]] = -static_cast<double>(k);
  return list::list_schedule(instance, plan_.kind, priority);
}

Draws replay_draws(const Instance& instance, const Plan& plan, Kept kept, const Table& factors,
                   const hlp::Certificate* relaxation) {
  const Replay replay(instance, plan, kept);
  Draws draws;
  for (std::ptrdiff_t draw = 0; draw < factors.rows(); ++draw) {
    check_interrupt();
    const Instance drawn = with_factors(instance, factors.data() + draw * factors.cols());
    draws.value.push_back(replay.run(drawn).makespan());
    if (relaxation) draws.bound.push_back(bound_of(drawn, *relaxation));
  }
  return draws;
}

}  // namespace cosched::dags::search
