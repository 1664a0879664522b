#include "cosched/opt/time_cost.hpp"

namespace cosched::opt {

TimeCost::TimeCost(const TaskGraph& graph, const Table& times)
    : times_(times),
      network_(make_event_network(graph)),
      path_(network_),
      level_of_(static_cast<int>(times.rows()), static_cast<int>(times.cols()), -1) {
  const int tasks = graph.tasks(), options = static_cast<int>(times.cols());
  level_begin_.reserve(tasks + 1);
  level_begin_.push_back(0);
  levels_.reserve(times.size());
  std::vector<double> distinct;
  for (int task = 0; task < tasks; ++task) {
    const double* row = &times(task, 0);
    distinct.assign(row, row + options);
    std::sort(distinct.begin(), distinct.end(), std::greater<>());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const double time : distinct) {
      if (time == kInfinity) continue;
      for (int option = 0; option < options; ++option)
        if (row[option] == time) level_of_(task, option) = static_cast<int>(levels_.size());
      levels_.emplace_back();
      levels_.back().time = time;
    }
    level_begin_.push_back(static_cast<int>(levels_.size()));
  }
}

TimeCost::TimeCostOptimum TimeCost::minimise(const Table& cost, double price) {
  set_envelopes(cost);
  if (price > 0) {
    solve_flow(price);
    return {envelope_sum(task_flow()), cheapest_within(event_windows())};
  }
  const std::vector<double> no_flow(times_.rows(), 0.0), unlimited(times_.rows(), kInfinity);
  return {envelope_sum(no_flow), cheapest_within(unlimited)};
}

std::vector<double> TimeCost::task_flow() const {
  std::vector<double> flow(static_cast<int>(times_.rows()), 0.0);
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
      flow[task] += std::max(0.0, flow_->flow(k));
  return flow;
}

std::vector<double> TimeCost::link_flow() const {
  std::vector<double> flow(network_.links.size());
  for (std::size_t k = 0; k < flow.size(); ++k)
    flow[k] = std::max(0.0, flow_->flow(static_cast<int>(levels_.size() + k)));
  return flow;
}

void TimeCost::set_envelopes(const Table& cost) {
  for (TimeLevel& level : levels_) level.cost = kInfinity;
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
    for (int option = 0; option < static_cast<int>(times_.cols()); ++option) {
      if (level_of_(task, option) < 0) continue;
      TimeLevel& level = levels_[level_of_(task, option)];
      if (cost(task, option) < level.cost) {
        level.cost = cost(task, option);
        level.option = option;
      }
    }
    set_envelope(task);
  }
}

// Lower envelope of the lines cost + time f for f >= 0, from the cheapest (equal: the
// fastest) to the fastest.
void TimeCost::set_envelope(int task) {
  const int first = level_begin_[task], last = level_begin_[task + 1] - 1;
  int level = first;
  for (int k = first; k <= last; ++k) {
    levels_[k].is_on_envelope = false;
    levels_[k].upper_flow = 0;
    if (levels_[k].cost <= levels_[level].cost) level = k;
  }
  double last_crossing = 0;
  for (;;) {
    levels_[level].is_on_envelope = true;
    if (level == last) break;
    int next = last;
    double crossing = kInfinity;
    for (int k = level + 1; k <= last; ++k) {
      const double flow_at_crossing =
          (levels_[k].cost - levels_[level].cost) / (levels_[level].time - levels_[k].time);
      if (flow_at_crossing <= crossing) {
        crossing = flow_at_crossing;
        next = k;
      }
    }
    last_crossing = std::max(last_crossing, crossing);
    levels_[level].upper_flow = last_crossing;
    level = next;
  }
  levels_[last].upper_flow = kInfinity;
}

void TimeCost::build_flow() {
  std::vector<LengthArc> arcs;
  std::vector<char> uncapacitated;
  arcs.reserve(levels_.size() + network_.links.size());
  uncapacitated.reserve(arcs.capacity());
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      arcs.push_back({network_.start[task], network_.end[task], levels_[k].time});
      uncapacitated.push_back(k + 1 == level_begin_[task + 1]);
    }
  for (const auto& [from, to] : network_.links) {
    arcs.push_back({from, to, 0});
    uncapacitated.push_back(1);
  }
  capacity_.assign(arcs.size(), kInfinity);
  flow_ =
      std::make_unique<MaxLengthFlow>(network_.nodes, std::move(arcs), std::move(uncapacitated));
}

// The share of a task's flow that each used level takes: up to where the next one is cheaper.
void TimeCost::set_capacities() {
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
    double before = 0;
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      capacity_[k] = levels_[k].is_on_envelope ? levels_[k].upper_flow - before : 0;
      if (levels_[k].is_on_envelope) before = levels_[k].upper_flow;
    }
  }
}

// The last flow, scaled to the new amount: each task keeps its share and fills its new
// capacities from the slowest level on.
const std::vector<double>& TimeCost::scale_last_flow(double price) {
  if (!flow_->has_flow()) return start_flow_;
  const double scale = price / price_;
  start_flow_.resize(capacity_.size());
  for (std::size_t k = levels_.size(); k < start_flow_.size(); ++k)
    start_flow_[k] = scale * std::max(0.0, flow_->flow(static_cast<int>(k)));
  const std::vector<double> flow_of_task = task_flow();
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
    double remaining_flow = scale * flow_of_task[task];
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      start_flow_[k] = std::min(remaining_flow, capacity_[k]);
      remaining_flow -= start_flow_[k];
    }
  }
  return start_flow_;
}

void TimeCost::solve_flow(double price) {
  if (!flow_) build_flow();
  set_capacities();
  flow_->solve(capacity_, price, scale_last_flow(price));
  price_ = price;
}

// The time between the two events of each task, by the potentials of the flow.
std::vector<double> TimeCost::event_windows() const {
  std::vector<double> window(static_cast<int>(times_.rows()));
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
    window[task] = flow_->potential(network_.end[task]) - flow_->potential(network_.start[task]);
  return window;
}

// Sum over the tasks of the lower envelope at the task's flow: the value of the dual.
double TimeCost::envelope_sum(const std::vector<double>& flow) const {
  double sum = 0;
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
    double least = kInfinity;
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
      least = std::min(least, levels_[k].cost + levels_[k].time * flow[task]);
    sum += least;
  }
  return sum;
}

Table TimeCost::cheapest_within(const std::vector<double>& window) const {
  Table x(static_cast<int>(times_.rows()), static_cast<int>(times_.cols()));
  for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
    set_shares(task, window[task], &x(task, 0));
  return x;
}

// Sets the task's row of x, zero so far, to the cheapest mix whose duration fits in the window
// (the fastest if none does).
void TimeCost::set_shares(int task, double window, double* share) const {
  const TimeLevel* slow = nullptr;
  for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
    const TimeLevel& level = levels_[k];
    if (!level.is_on_envelope) continue;
    if (window >= level.time || (k + 1 == level_begin_[task + 1] && !slow)) {
      if (!slow) {
        share[level.option] = 1;
        return;
      }
      const double part = std::min(1.0, (window - level.time) / (slow->time - level.time));
      share[slow->option] += part;
      share[level.option] += 1 - part;
      return;
    }
    slow = &level;
  }
  share[slow->option] = 1;  // the fastest
}

}  // namespace cosched::opt
