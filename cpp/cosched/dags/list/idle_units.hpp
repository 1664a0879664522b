// Units as schedulers without insertion see them: each is idle from some time on.
#pragma once

#include <functional>
#include <queue>
#include <tuple>

#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {

/// A plan that grows at its end, predecessors first.
class IdleUnits {
 public:
  explicit IdleUnits(const Instance& instance)
      : instance_(instance),
        plan_(instance.tasks()),
        idle_(instance.types()),
        queue_(instance.types()) {
    for (int type = 0; type < instance.types(); ++type) {
      idle_[type].assign(useful_units(instance, type), 0);
      for (int unit = 0; unit < static_cast<int>(idle_[type].size()); ++unit)
        queue_[type].emplace(0, unit);
    }
  }

  /// When and where a task can start on units of a type: the earliest start, equal: the unit that
  /// is idle earliest, equal: the lowest.
  struct Start {
    double time = kInfinity;
    double idle = kInfinity;
    int unit = -1;
    bool operator<(const Start& other) const {
      return std::tie(time, idle, unit) < std::tie(other.time, other.idle, other.unit);
    }
  };
  Start earliest(int task, int type) const { return earliest(type, arrival(task, type)); }

  /// The same with what arrival() says, which does not change once the predecessors are placed.
  Start earliest(int type, const Arrival& ready) const {
    const auto [idle, unit] = queue_[type].top();
    Start best{std::max(idle, ready.elsewhere), idle, unit};
    if (ready.memory == kNoMemory) return best;
    instance_.transfers().each_unit(type, ready.memory, [&](int near) {
      if (near >= static_cast<int>(idle_[type].size())) return;
      const double from = idle_[type][near];
      best = std::min(best, Start{std::max(from, ready.home), from, near});
    });
    return best;
  }

  Arrival arrival(int task, int type) const { return list::arrival(instance_, plan_, task, type); }

  void place(int task, int type, const Start& start) {
    const double end = start.time + instance_.time(task, type);
    auto& queue = queue_[type];
    idle_[type][start.unit] = end;
    queue.emplace(end, start.unit);
    while (queue.top().first != idle_[type][queue.top().second]) queue.pop();
    plan_.set(task, type, start.unit, start.time, end);
  }

  const Plan& plan() const { return plan_; }

 private:
  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<double>> idle_;  // from, of each unit of each type
  // (idle from, unit) of each type; an entry whose unit has been taken since may lie below the top.
  using Idle = std::pair<double, int>;
  std::vector<std::priority_queue<Idle, std::vector<Idle>, std::greater<>>> queue_;
};

// The identical units of one resource type, as list schedulers see them.

/// Units 0..m-1; each is free from some time on, at first from 0.  More units than
/// tasks are never needed, so callers pass min(m_q, n).
class UnitPool {
 public:
  explicit UnitPool(int units) {
    for (int unit = 0; unit < units; ++unit) idle_.push(unit);
  }

  /// Time from which at least one unit is free.
  double earliest() const { return idle_.empty() ? busy_.top().first : now_; }

  /// Takes the lowest-numbered unit that is free at `start` >= earliest(); it is busy
  /// until `end`.  Calls come with non-decreasing starts.
  int take(double start, double end) {
    now_ = start;
    while (!busy_.empty() && busy_.top().first <= start) {
      idle_.push(busy_.top().second);
      busy_.pop();
    }
    const int unit = idle_.top();
    idle_.pop();
    busy_.emplace(end, unit);
    return unit;
  }

 private:
  using Release = std::pair<double, int>;  // (end, unit)
  std::priority_queue<int, std::vector<int>, std::greater<>> idle_;
  std::priority_queue<Release, std::vector<Release>, std::greater<>> busy_;
  double now_ = 0;
};

}  // namespace cosched::dags::list
