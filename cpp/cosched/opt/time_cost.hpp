// The linear time-cost trade-off of project scheduling: options of a task differ in duration and
// cost, and may be mixed.  For costs c and a price of the longest path L, minimise over fractional
// choices x
//   sum_jk c_jk x_jk + price L(x),   L(x) = longest path under the durations sum_k t_jk x_jk.
// Its dual is a flow of amount `price` through the event network in which task j's flow f_j earns
//   min over k of c_jk + t_jk f_j,
// a concave piecewise linear function: parallel arcs, one a duration, the slower ones with a
// capacity.
#pragma once

#include <functional>
#include <memory>

#include "cosched/core/times.hpp"
#include "cosched/opt/event_network.hpp"
#include "cosched/opt/network_simplex.hpp"

namespace cosched::opt {

/// Keeps its flow from one call to the next.
class TimeCost {
 public:
  /// times(j, k): seconds of option k of task j, infinite where there is none; one finite a task.
  /// The table and the graph must outlive it.
  TimeCost(const TaskGraph& graph, const Table& times)
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

  struct Optimum {
    double bound;  // value of the dual flow, at most the cost of x
    Table x;       // rows sum to 1
  };

  /// Costs >= 0, read where times are finite.  Of options of one duration the cheapest counts, of
  /// equals the first.
  Optimum minimise(const Table& cost, double price) {
    set_envelopes(cost);
    if (price > 0) {
      solve_flow(price);
      return {envelope_sum(task_flow()), cheapest_within(windows())};
    }
    const std::vector<double> no_flow(times_.rows(), 0.0), endless(times_.rows(), kInfinity);
    return {envelope_sum(no_flow), cheapest_within(endless)};
  }

  const EventNetwork& network() const { return network_; }
  /// L(x) for durations of the tasks.
  double path(const std::vector<double>& duration) const { return path_(duration); }

  /// Flow of the last minimise: through each task, and on each link of the network.
  std::vector<double> task_flow() const {
    std::vector<double> flow(static_cast<int>(times_.rows()), 0.0);
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
      for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
        flow[task] += std::max(0.0, flow_->flow(k));
    return flow;
  }

  std::vector<double> link_flow() const {
    std::vector<double> flow(network_.links.size());
    for (std::size_t k = 0; k < flow.size(); ++k)
      flow[k] = std::max(0.0, flow_->flow(static_cast<int>(levels_.size() + k)));
    return flow;
  }

 private:
  // One distinct finite time of a task: a line cost + time * f, an arc of the flow.
  struct Level {
    double time = 0;
    double cost = 0;    // least of the options of that time
    int option = -1;    // that option
    double upto = 0;    // flow of the task at which the next level takes over
    bool used = false;  // on the lower envelope
  };

  void set_envelopes(const Table& cost) {
    for (Level& level : levels_) level.cost = kInfinity;
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
      for (int option = 0; option < static_cast<int>(times_.cols()); ++option) {
        if (level_of_(task, option) < 0) continue;
        Level& level = levels_[level_of_(task, option)];
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
  void set_envelope(int task) {
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

  void build_flow() {
    std::vector<LengthArc> arcs;
    std::vector<char> endless;
    arcs.reserve(levels_.size() + network_.links.size());
    endless.reserve(arcs.capacity());
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
      for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
        arcs.push_back({network_.start[task], network_.end[task], levels_[k].time});
        endless.push_back(k + 1 == level_begin_[task + 1]);
      }
    for (const auto& [from, to] : network_.links) {
      arcs.push_back({from, to, 0});
      endless.push_back(1);
    }
    capacity_.assign(arcs.size(), kInfinity);
    flow_ = std::make_unique<LongestFlow>(network_.nodes, std::move(arcs), std::move(endless));
  }

  // The share of a task's flow that each used level takes: up to where the next one is cheaper.
  void set_capacities() {
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
      double before = 0;
      for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
        capacity_[k] = levels_[k].used ? levels_[k].upto - before : 0;
        if (levels_[k].used) before = levels_[k].upto;
      }
    }
  }

  // The last flow, scaled to the new amount: each task keeps its share and fills its new
  // capacities from the slowest level on.
  const std::vector<double>& start_flow(double price) {
    if (!flow_->has_flow()) return start_;
    const double scale = price / price_;
    start_.resize(capacity_.size());
    for (std::size_t k = levels_.size(); k < start_.size(); ++k)
      start_[k] = scale * std::max(0.0, flow_->flow(static_cast<int>(k)));
    const std::vector<double> through = task_flow();
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
      double rest = scale * through[task];
      for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
        rest -= start_[k] = std::min(rest, capacity_[k]);
    }
    return start_;
  }

  void solve_flow(double price) {
    if (!flow_) build_flow();
    set_capacities();
    flow_->solve(capacity_, price, start_flow(price));
    price_ = price;
  }

  // The time between the two events of each task, by the potentials of the flow.
  std::vector<double> windows() const {
    std::vector<double> window(static_cast<int>(times_.rows()));
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
      window[task] = flow_->potential(network_.end[task]) - flow_->potential(network_.start[task]);
    return window;
  }

  // Sum over the tasks of the lower envelope at the task's flow: the value of the dual.
  double envelope_sum(const std::vector<double>& flow) const {
    double sum = 0;
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task) {
      double least = kInfinity;
      for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k)
        least = std::min(least, levels_[k].cost + levels_[k].time * flow[task]);
      sum += least;
    }
    return sum;
  }

  Table cheapest_within(const std::vector<double>& window) const {
    Table x(static_cast<int>(times_.rows()), static_cast<int>(times_.cols()));
    for (int task = 0; task < static_cast<int>(times_.rows()); ++task)
      set_shares(task, window[task], &x(task, 0));
    return x;
  }

  // Sets the task's row of x, zero so far, to the cheapest mix whose duration fits in the window
  // (the fastest if none does).
  void set_shares(int task, double window, double* share) const {
    const Level* slow = nullptr;
    for (int k = level_begin_[task]; k < level_begin_[task + 1]; ++k) {
      const Level& level = levels_[k];
      if (!level.used) continue;
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

  const Table& times_;
  EventNetwork network_;
  PathLength path_;
  std::vector<int> level_begin_;  // levels of task j: decreasing times
  std::vector<Level> levels_;
  Matrix<int> level_of_;  // of each option, -1 where its time is infinite
  std::vector<double> capacity_, start_;
  double price_ = 0;                   // of the last flow
  std::unique_ptr<LongestFlow> flow_;  // levels first, then links
};

}  // namespace cosched::opt
