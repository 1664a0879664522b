// From an order and a unit for each task to a schedule, where data costs time, for searches that do
// this a million times.
#pragma once

#include <tuple>

#include "cosched/dags/list/memory_insertion.hpp"
#include "cosched/dags/search/unit_numbers.hpp"

namespace cosched::dags::search {

class PlaceDecoder {
 public:
  explicit PlaceDecoder(const Instance& instance);

  /// Takes the tasks in this order, each before its successors, and places each in the first gap of
  /// its unit that is long enough; returns the makespan.  With `justify` the schedule is then
  /// pushed to the right, by decreasing ends, and back to the left, by increasing starts, which
  /// does not lengthen it (but for rounding). Where memories are limited, as MemoryInsertion
  /// (list/memory_insertion.hpp) places the tasks, without justification: infinity where one of
  /// them finds no room.
  double decode(const std::vector<int>& order, const std::vector<int>& units, bool justify);

  /// Starts and ends in the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }

  /// The tasks by increasing start, each before its successors.
  std::vector<int> order_by_start() const;

  Plan plan(const std::vector<int>& units) const;

  /// Tasks that decide the makespan: a last task, the predecessor whose data it waits for or the
  /// task before it on its unit, and so on back to the first start.
  std::vector<int> deciding_chain(const std::vector<int>& units) const;

  const UnitNumbers& numbers() const { return numbers_; }

  /// Seconds of the data of an edge between two units.
  double transfer_seconds(int edge, int from, int to) const;

 private:
  double data_ready(int task, const std::vector<int>& units) const;
  double data_ready_backward(int task, const std::vector<int>& units) const;
  double place_in_memories(const std::vector<int>& order, const std::vector<int>& units);
  double place_all(const std::vector<int>& order, const std::vector<int>& units, bool backward);

  const Instance& instance_;
  UnitNumbers numbers_;
  std::vector<int> topological_position_;
  std::vector<list::Timeline> timelines_;  // of each unit
  std::vector<double> remote_seconds_;     // seconds of each edge, by the types of both ends
  std::vector<double> start_, end_;
};

}  // namespace cosched::dags::search
