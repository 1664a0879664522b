// From an order and an allocation to a schedule: what a search calls a million times.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include "cosched/core/rng.hpp"
#include "cosched/dags/list/list_rules.hpp"

namespace cosched::dags::search {

/// Units of a type are alike, so a schedule is feasible where no moment has more tasks than units:
/// which unit a task gets is settled at the end (plan()).
class Decoder {
 public:
  explicit Decoder(const Instance& instance)
      : instance_(instance),
        place_in_topology_(instance.tasks()),
        profile_(instance.types()),
        start_(instance.tasks()),
        end_(instance.tasks()) {
    const std::vector<int>& order = instance.graph().order();
    for (std::size_t k = 0; k < order.size(); ++k)
      place_in_topology_[order[k]] = static_cast<int>(k);
  }

  /// Tasks in this order, each before its successors, each as early as it fits between those placed
  /// so far: the makespan.  With `justify` the schedule is then pushed to the right, by decreasing
  /// ends, and back to the left, by increasing starts, which never lengthens it.
  double serial(const std::vector<int>& order, const Allocation& allocation, bool justify) {
    double makespan = place_all(order, allocation, false);
    if (!justify) return makespan;
    std::vector<int> turned(order);
    std::sort(turned.begin(), turned.end(), [&](int a, int b) {
      return std::pair(end_[a], place_in_topology_[a]) > std::pair(end_[b], place_in_topology_[b]);
    });
    place_all(turned, allocation, true);
    std::sort(turned.begin(), turned.end(), [&](int a, int b) {
      return std::pair(-end_[a], place_in_topology_[a]) <
             std::pair(-end_[b], place_in_topology_[b]);
    });
    return place_all(turned, allocation, false);
  }

  /// Graham's list scheduling in this order: no unit idles while a task of its type is ready.
  double list(const std::vector<int>& order, const Allocation& allocation) {
    std::vector<double> priority(instance_.tasks());
    for (std::size_t k = 0; k < order.size(); ++k) priority[order[k]] = -static_cast<double>(k);
    Plan plan = list::list_schedule(instance_, allocation, priority);
    start_ = std::move(plan.start);
    end_ = std::move(plan.end);
    return *std::max_element(end_.begin(), end_.end());
  }

  /// Of the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }

  /// Tasks by start; before its successors in any case.
  std::vector<int> order_by_start() const {
    std::vector<int> order(instance_.tasks());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(start_[a], place_in_topology_[a]) <
             std::pair(start_[b], place_in_topology_[b]);
    });
    return order;
  }

  /// With units; nothing where a task without length lies in the middle of all others.
  std::optional<Plan> plan(const Allocation& allocation) const {
    Plan plan(instance_.tasks());
    std::vector<int> order(instance_.tasks());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tuple(start_[a], end_[a], a) < std::tuple(start_[b], end_[b], b);
    });
    using Release = std::pair<double, int>;  // (end, unit)
    std::vector<std::priority_queue<Release, std::vector<Release>, std::greater<>>> busy(
        instance_.types());
    std::vector<int> used(instance_.types(), 0);
    for (const int task : order) {
      const int type = allocation[task];
      int unit = -1;
      if (!busy[type].empty() && busy[type].top().first <= start_[task]) {
        unit = busy[type].top().second;
        busy[type].pop();
      } else if (used[type] < instance_.units(type)) {
        unit = used[type]++;
      } else {
        return std::nullopt;
      }
      busy[type].emplace(end_[task], unit);
      plan.set(task, type, unit, start_[task], end_[task]);
    }
    return plan;
  }

 private:
  struct Step {  // from `time` to that of the next step
    double time;
    int free;
  };

  // Backward: the graph is turned round, times run from the end of the project.
  double place_all(const std::vector<int>& order, const Allocation& allocation, bool backward) {
    for (int type = 0; type < instance_.types(); ++type)
      profile_[type].assign(1, {0, instance_.units(type)});
    double makespan = 0;
    for (const int task : order) {
      const int type = allocation[task];
      double ready = 0;
      for (const int before :
           backward ? instance_.graph().successors(task) : instance_.graph().predecessors(task))
        ready = std::max(ready, end_[before]);
      const double duration = instance_.time(task, type);
      start_[task] = place(profile_[type], ready, duration);
      end_[task] = start_[task] + duration;
      makespan = std::max(makespan, end_[task]);
    }
    return makespan;
  }

  // The earliest start >= ready at which a unit is free for so long; takes it.
  double place(std::vector<Step>& profile, double ready, double duration) const {
    auto from = std::upper_bound(profile.begin(), profile.end(), ready,
                                 [](double time, const Step& step) { return time < step.time; });
    std::size_t first = static_cast<std::size_t>(from - profile.begin()) - 1;
    std::size_t last = first;  // the steps first .. last are free
    for (;;) {
      while (profile[first].free == 0) last = ++first;
      const double end = std::max(ready, profile[first].time) + duration;
      while (last + 1 < profile.size() && profile[last + 1].time < end &&
             profile[last + 1].free > 0)
        ++last;
      if (last + 1 == profile.size() || profile[last + 1].time >= end) break;
      first = last = last + 1;
    }
    const double start = std::max(ready, profile[first].time), end = start + duration;
    if (duration <= 0) return start;
    const bool splits_end = last + 1 == profile.size() || profile[last + 1].time > end;
    if (splits_end)
      profile.insert(profile.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                     {end, profile[last].free});
    if (profile[first].time < start) {
      profile.insert(profile.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                     {start, profile[first].free});
      ++first;
      ++last;
    }
    for (std::size_t k = first; k <= last; ++k) --profile[k].free;
    return start;
  }

  const Instance& instance_;
  std::vector<int> place_in_topology_;
  std::vector<std::vector<Step>> profile_;  // of each type
  std::vector<double> start_, end_;
};

/// Tasks that decide the makespan: from a last task back to one that ends where it starts, a
/// predecessor or another task of its type.
inline std::vector<int> deciding_chain(const Instance& instance, const Allocation& allocation,
                                       const std::vector<double>& start,
                                       const std::vector<double>& end) {
  std::vector<std::pair<double, int>> by_end;
  by_end.reserve(end.size());
  for (int task = 0; task < instance.tasks(); ++task) by_end.emplace_back(end[task], task);
  std::sort(by_end.begin(), by_end.end());
  std::vector<int> chain;
  int task = by_end.back().second;
  for (int steps = 0; task >= 0 && steps < instance.tasks(); ++steps) {
    chain.push_back(task);
    int next = -1;
    for (const int before : instance.graph().predecessors(task))
      if (end[before] == start[task]) next = before;
    if (next < 0)
      for (auto item = std::lower_bound(by_end.begin(), by_end.end(), std::pair(start[task], -1));
           item != by_end.end() && item->first == start[task]; ++item)
        if (allocation[item->second] == allocation[task] && item->second != task &&
            start[item->second] < start[task])
          next = item->second;
    task = next;
  }
  return chain;
}

// Moves of searches over orders.

/// A task goes to another place between its last predecessor and its first successor: one of the
/// `chain` mostly forward, any other anywhere.  `position` is room for n numbers.  O(n).
inline void move_in_order(const TaskGraph& graph, const std::vector<int>& chain,
                          std::vector<int>& order, std::vector<int>& position, Rng& rng) {
  const int n = graph.tasks();
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  const bool chained = rng.uniform() < 0.5;
  const int task = chained ? chain[rng.below(chain.size())] : static_cast<int>(rng.below(n));
  int low = 0, high = n - 1;
  for (const int before : graph.predecessors(task)) low = std::max(low, position[before] + 1);
  for (const int after : graph.successors(task)) high = std::min(high, position[after] - 1);
  const int at = position[task];
  if (chained && low < at && rng.uniform() < 0.7) high = at - 1;
  if (high <= low && high == at) return;
  const int to = low + static_cast<int>(rng.below(high - low + 1));
  const auto first = order.begin();
  if (to < at)
    std::rotate(first + to, first + at, first + at + 1);
  else if (to > at)
    std::rotate(first + at, first + at + 1, first + to + 1);
}

}  // namespace cosched::dags::search
