// From an order and a unit a task to a schedule, where data costs time: what a search calls a
// million times.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::search {

/// Units that can be of use in one numbering, type by type.
class UnitNumbers {
 public:
  explicit UnitNumbers(const Instance& instance);
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
  explicit PlaceDecoder(const Instance& instance);

  /// Tasks in this order, each before its successors, each at the first gap of its unit that is long
  /// enough: the makespan.  With `justify` the schedule is then pushed to the right, by decreasing
  /// ends, and back to the left, by increasing starts, which does not lengthen it (but for rounding).
  /// Where memories are limited, as MemoryInsertion (list/memory.hpp) places the tasks, without
  /// justification: infinity where one of them finds no room.
  double decode(const std::vector<int>& order, const std::vector<int>& units, bool justify);

  /// Of the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }
  /// Tasks by start; before its successors in any case.
  std::vector<int> order_by_start() const;
  Plan plan(const std::vector<int>& units) const;
  /// Tasks that decide the makespan: from a last task back to the predecessor whose data it waits
  /// for, or to the task before it on its unit.
  std::vector<int> deciding_chain(const std::vector<int>& units) const;

  const UnitNumbers& numbers() const { return numbers_; }

 private:
  double seconds(int edge, int from, int to) const;
  double ready(int task, const std::vector<int>& units) const;
  double ready_backward(int task, const std::vector<int>& units) const;
  double place_in_memories(const std::vector<int>& order, const std::vector<int>& units);
  double place_all(const std::vector<int>& order, const std::vector<int>& units, bool backward);

  const Instance& instance_;
  UnitNumbers numbers_;
  std::vector<int> place_in_topology_;
  std::vector<list::Timeline> timelines_;  // of each unit
  std::vector<double> start_, end_;
};

}  // namespace cosched::dags::search
