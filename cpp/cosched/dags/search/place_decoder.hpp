// From an order and a unit a task to a schedule, where data costs time: what a search calls a
// million times.
#pragma once

#include <tuple>

#include "cosched/dags/list/memory.hpp"

namespace cosched::dags::search {

/// Units that can be of use in one numbering, type by type.
class UnitNumbers {
 public:
  explicit UnitNumbers(const Instance& instance) {
    for (int type = 0; type < instance.types(); ++type) {
      first_.push_back(static_cast<int>(places_.size()));
      for (int unit = 0; unit < list::useful_units(instance, type); ++unit) {
        places_.push_back({type, unit});
        memory_.push_back(instance.transfers().memory({type, unit}));
      }
    }
  }

  int count() const { return static_cast<int>(places_.size()); }
  int number(Place place) const { return first_[place.type] + place.unit; }
  Place place(int number) const { return places_[number]; }
  std::int64_t memory(int number) const { return memory_[number]; }

 private:
  std::vector<int> first_;
  std::vector<Place> places_;
  std::vector<std::int64_t> memory_;
};

class PlaceDecoder {
 public:
  explicit PlaceDecoder(const Instance& instance)
      : instance_(instance),
        numbers_(instance),
        place_in_topology_(instance.tasks()),
        timelines_(numbers_.count()),
        start_(instance.tasks()),
        end_(instance.tasks()) {
    const std::vector<int>& order = instance.graph().order();
    for (std::size_t k = 0; k < order.size(); ++k)
      place_in_topology_[order[k]] = static_cast<int>(k);
    for (int edge = 0; edge < static_cast<int>(instance.transfers().data().size()); ++edge)
      for (int from = 0; from < instance.types(); ++from)
        for (int to = 0; to < instance.types(); ++to)
          remote_.push_back(instance.transfers().remote(edge, from, to));
  }

  /// Tasks in this order, each before its successors, each at the first gap of its unit that is
  /// long enough: the makespan.  With `justify` the schedule is then pushed to the right, by
  /// decreasing ends, and back to the left, by increasing starts, which does not lengthen it (but
  /// for rounding). Where memories are limited, as MemoryInsertion (list/memory.hpp) places the
  /// tasks, without justification: infinity where one of them finds no room.
  double decode(const std::vector<int>& order, const std::vector<int>& units, bool justify) {
    if (instance_.transfers().limited()) return place_in_memories(order, units);
    const double makespan = place_all(order, units, false);
    if (!justify) return makespan;
    // Both times by decreasing ends; of tasks that end together, one without length goes before the
    // one that it follows, or it would find its moment taken.
    const auto sort = [&](std::vector<int>& tasks, int topology) {
      std::sort(tasks.begin(), tasks.end(), [&](int a, int b) {
        return std::tuple(-end_[a], -start_[a], topology * place_in_topology_[a]) <
               std::tuple(-end_[b], -start_[b], topology * place_in_topology_[b]);
      });
    };
    std::vector<int> turned(order);
    sort(turned, -1);
    place_all(turned, units, true);
    sort(turned, 1);
    return place_all(turned, units, false);
  }

  /// Of the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }

  /// Tasks by start; before its successors in any case.
  std::vector<int> order_by_start() const {
    std::vector<int> order(instance_.tasks());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tuple(start_[a], end_[a], place_in_topology_[a]) <
             std::tuple(start_[b], end_[b], place_in_topology_[b]);
    });
    return order;
  }

  Plan plan(const std::vector<int>& units) const {
    Plan plan(instance_.tasks());
    for (int task = 0; task < instance_.tasks(); ++task) {
      const Place place = numbers_.place(units[task]);
      plan.set(task, place.type, place.unit, start_[task], end_[task]);
    }
    return plan;
  }

  /// Tasks that decide the makespan: from a last task back to the predecessor whose data it waits
  /// for, or to the task before it on its unit.
  std::vector<int> deciding_chain(const std::vector<int>& units) const {
    const auto last = std::max_element(end_.begin(), end_.end());
    std::vector<std::pair<double, int>> by_end;
    for (int task = 0; task < instance_.tasks(); ++task) by_end.emplace_back(end_[task], task);
    std::sort(by_end.begin(), by_end.end());
    std::vector<int> chain;
    int task = static_cast<int>(last - end_.begin());
    for (int steps = 0; task >= 0 && steps < instance_.tasks(); ++steps) {
      chain.push_back(task);
      int next = -1;
      const int* edge = instance_.transfers().in_edges(task);
      for (const int before : instance_.graph().predecessors(task))
        if (end_[before] + seconds(*edge++, units[before], units[task]) == start_[task])
          next = before;
      if (next < 0)
        for (auto item =
                 std::lower_bound(by_end.begin(), by_end.end(), std::pair(start_[task], -1));
             item != by_end.end() && item->first == start_[task]; ++item)
          if (units[item->second] == units[task] && start_[item->second] < start_[task])
            next = item->second;
      task = next;
    }
    return chain;
  }

  const UnitNumbers& numbers() const { return numbers_; }

  /// That the data of an edge takes between two units.
  double seconds(int edge, int from, int to) const {
    if (numbers_.memory(from) == numbers_.memory(to)) return 0;
    const int types = instance_.types();
    return remote_[(edge * types + numbers_.place(from).type) * types + numbers_.place(to).type];
  }

 private:
  double ready(int task, const std::vector<int>& units) const {
    const int* edge = instance_.transfers().in_edges(task);
    double time = 0;
    for (const int before : instance_.graph().predecessors(task))
      time = std::max(time, end_[before] + seconds(*edge++, units[before], units[task]));
    return time;
  }

  double ready_backward(int task, const std::vector<int>& units) const {
    int edge = instance_.transfers().first_out(task);
    double time = 0;
    for (const int after : instance_.graph().successors(task))
      time = std::max(time, end_[after] + seconds(edge++, units[task], units[after]));
    return time;
  }

  // As far as there is room; the rest never.
  double place_in_memories(const std::vector<int>& order, const std::vector<int>& units) {
    list::MemoryInsertion insertion(instance_);
    double makespan = 0;
    for (const int task : order) {
      const list::Choice choice =
          makespan < kInfinity ? insertion.on(task, numbers_.place(units[task])) : list::Choice{};
      start_[task] = choice.start;
      end_[task] = choice.end;
      makespan = std::max(makespan, choice.end);
      if (choice.end < kInfinity) insertion.place(task, choice);
    }
    return makespan;
  }

  // Backward: the graph is turned round, times run from the end of the project.
  double place_all(const std::vector<int>& order, const std::vector<int>& units, bool backward) {
    for (const int task : order) timelines_[units[task]].clear();
    double makespan = 0;
    for (const int task : order) {
      const int unit = units[task];
      const double duration = instance_.time(task, numbers_.place(unit).type);
      start_[task] = timelines_[unit].earliest(
          backward ? ready_backward(task, units) : ready(task, units), duration);
      end_[task] = start_[task] + duration;
      timelines_[unit].occupy(start_[task], end_[task]);
      makespan = std::max(makespan, end_[task]);
    }
    return makespan;
  }

  const Instance& instance_;
  UnitNumbers numbers_;
  std::vector<int> place_in_topology_;
  std::vector<list::Timeline> timelines_;  // of each unit
  std::vector<double> remote_;             // seconds of each edge, by the types of both ends
  std::vector<double> start_, end_;
};

}  // namespace cosched::dags::search
