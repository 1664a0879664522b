#include "cosched/dags/hlp/trade_off.hpp"

#include <algorithm>
#include <functional>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::hlp {

std::vector<double> fractional_durations(const Instance& instance, const Table& x) {
  std::vector<double> duration(instance.tasks(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) duration[task] += instance.time(task, type) * x(task, type);
  return duration;
}

std::vector<double> fractional_loads(const Instance& instance, const Table& x) {
  std::vector<double> loads(instance.types(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) loads[type] += instance.time(task, type) * x(task, type);
  for (int type = 0; type < instance.types(); ++type) loads[type] /= instance.units(type);
  return loads;
}

TradeOff::TradeOff(const Instance& instance)
    : instance_(instance), network_(make_event_network(instance.graph())), path_(network_) {
  level_begin_.reserve(instance.tasks() + 1);
  level_begin_.push_back(0);
  levels_.reserve(instance.times().size());
  std::vector<double> times;
  for (int task = 0; task < instance.tasks(); ++task) {
    const double* p = instance.row(task);
    times.assign(p, p + instance.types());
    std::sort(times.begin(), times.end(), std::greater<>());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    for (const double time : times)
      if (time < kInfinity) {
        levels_.emplace_back();
        levels_.back().time = time;
      }
    level_begin_.push_back(static_cast<int>(levels_.size()));
  }
}

void TradeOff::build_flow() {
  std::vector<opt::LengthArc> arcs;
  std::vector<char> endless;
  arcs.reserve(levels_.size() + network_.links.size());
  endless.reserve(arcs.capacity());
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      arcs.push_back({network_.start[task], network_.end[task], levels_[k].time});
      endless.push_back(k + 1 == level_begin_[task + 1]);
    }
  for (const auto& [from, to] : network_.links) {
    arcs.push_back({from, to, 0});
    endless.push_back(1);
  }
  capacity_.assign(arcs.size(), kInfinity);
  flow_ = std::make_unique<opt::LongestFlow>(network_.nodes, std::move(arcs), std::move(endless));
}

// Lower envelope of the lines cost + time f for f >= 0, from the cheapest (equal: the
// fastest) to the fastest.
void TradeOff::set_envelope(int task) {
  const int first = level_begin_[task], last = level_begin_[task + 1] - 1;
  int level = first;
  for (int k = first; k <= last; ++k) {
    levels_[k].used = false;
    levels_[k].upto = 0;
    if (levels_[k].cost <= levels_[level].cost) level = k;
  }
  double reached = 0;
  for (;;) {
    levels_[level].used = true;
    if (level == last) break;
    int next = last;
    double crossing = kInfinity;
    for (int k = level + 1; k <= last; ++k) {
      const double at =
          (levels_[k].cost - levels_[level].cost) / (levels_[level].time - levels_[k].time);
      if (at <= crossing) {
        crossing = at;
        next = k;
      }
    }
    reached = std::max(reached, crossing);
    levels_[level].upto = reached;
    level = next;
  }
  levels_[last].upto = kInfinity;
}

void TradeOff::set_envelopes(const std::vector<double>& weights) {
  for (int task = 0; task < instance_.tasks(); ++task) {
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      levels_[k].cost = kInfinity;
      for (int type = 0; type < instance_.types(); ++type) {
        if (instance_.time(task, type) != levels_[k].time) continue;
        const double cost = levels_[k].time * weights[type] / instance_.units(type);
        if (cost < levels_[k].cost) {
          levels_[k].cost = cost;
          levels_[k].type = type;
        }
      }
    }
    set_envelope(task);
  }
}

// Sets the task's row of x, zero so far, to the cheapest mix whose duration fits in the window
// (the fastest if none does).
void TradeOff::set_shares(int task, double window, double* share) const {
  const Level* slow = nullptr;
  for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
    const Level& level = levels_[k];
    if (!level.used) continue;
    if (window >= level.time || (k + 1 == level_begin_[task + 1] && !slow)) {
      if (!slow) {
        share[level.type] = 1;
        return;
      }
      const double part = std::min(1.0, (window - level.time) / (slow->time - level.time));
      share[slow->type] += part;
      share[level.type] += 1 - part;
      return;
    }
    slow = &level;
  }
  share[slow->type] = 1;  // the fastest
}

// The last flow, scaled to the new amount: each task keeps its share and fills its new
// capacities from the slowest level on.
const std::vector<double>& TradeOff::start_flow(double demand) {
  if (!flow_->has_flow()) return start_;
  const double scale = demand / demand_;
  start_.resize(capacity_.size());
  for (std::size_t k = levels_.size(); k < start_.size(); ++k)
    start_[k] = scale * std::max(0.0, flow_->flow(static_cast<int>(k)));
  const std::vector<double> through = task_flow();
  for (int task = 0; task < instance_.tasks(); ++task) {
    double rest = scale * through[task];
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
      rest -= start_[k] = std::min(rest, capacity_[k]);
  }
  return start_;
}

// The share of a task's flow that each used level takes: up to where the next one is cheaper.
void TradeOff::set_capacities() {
  for (int task = 0; task < instance_.tasks(); ++task) {
    double before = 0;
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      capacity_[k] = levels_[k].used ? levels_[k].upto - before : 0;
      if (levels_[k].used) before = levels_[k].upto;
    }
  }
}

void TradeOff::solve_flow(double demand) {
  if (!flow_) build_flow();
  set_capacities();
  flow_->solve(capacity_, demand, start_flow(demand));
  demand_ = demand;
}

// The time between the two events of each task, by the potentials of the flow.
std::vector<double> TradeOff::windows() const {
  std::vector<double> window(instance_.tasks());
  for (int task = 0; task < instance_.tasks(); ++task)
    window[task] = flow_->potential(network_.end[task]) - flow_->potential(network_.start[task]);
  return window;
}

// Sum over the tasks of the lower envelope at the task's flow: the value of the dual.
double TradeOff::envelope_sum(const std::vector<double>& flow) const {
  double sum = 0;
  for (int task = 0; task < instance_.tasks(); ++task) {
    double least = kInfinity;
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
      least = std::min(least, levels_[k].cost + levels_[k].time * flow[task]);
    sum += least;
  }
  return sum;
}

Relaxed TradeOff::cheapest_within(const std::vector<double>& window) const {
  Relaxed point{Table(instance_.tasks(), instance_.types()), {}};
  for (int task = 0; task < instance_.tasks(); ++task)
    set_shares(task, window[task], &point.x(task, 0));
  point.measures = fractional_loads(instance_, point.x);
  point.measures.push_back(path_(fractional_durations(instance_, point.x)));
  return point;
}

TradeOff::Optimum TradeOff::minimise(const std::vector<double>& weights) {
  set_envelopes(weights);
  if (weights.back() > 0) {
    solve_flow(weights.back());
    return {envelope_sum(task_flow()), cheapest_within(windows())};
  }
  const std::vector<double> no_flow(instance_.tasks(), 0.0), endless(instance_.tasks(), kInfinity);
  return {envelope_sum(no_flow), cheapest_within(endless)};
}

std::vector<double> TradeOff::task_flow() const {
  std::vector<double> flow(instance_.tasks(), 0.0);
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
      flow[task] += std::max(0.0, flow_->flow(k));
  return flow;
}

std::vector<double> TradeOff::link_flow() const {
  std::vector<double> flow(network_.links.size());
  for (std::size_t k = 0; k < flow.size(); ++k)
    flow[k] = std::max(0.0, flow_->flow(static_cast<int>(levels_.size() + k)));
  return flow;
}

}  // namespace cosched::dags::hlp
