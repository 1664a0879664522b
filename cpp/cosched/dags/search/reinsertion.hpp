// Where a task fits best between the others, transfers of its data counted.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/dags/search/place_decoder.hpp"

namespace cosched::dags::search {

/// Computes the longest path through a task for each place where it could go, with two passes over
/// the other tasks.  Limits of memories are not taken into account.
class Reinsertion {
 public:
  Reinsertion(const Instance& instance, const PlaceDecoder& decoder);

  /// Gives a task whose unit is -1 a unit and a place in the order between its last predecessor and
  /// its first successor, so that the longest path through it is shortest; each place is overlooked
  /// with probability `blink`.  `memory_unit`: the task has to run in the memory of this unit, if
  /// the unit can run it; -1: anywhere.  Other tasks without a unit take their least time, and
  /// their data costs nothing.  Returns the length of that path: no schedule is shorter in which
  /// each unit takes its tasks in this order.  O(n + e + units (degree + 1)).
  double insert(int task, int memory_unit, double blink, Rng& rng, std::vector<int>& order,
                std::vector<int>& units);

 private:
  double ready_time(int task, int unit, const std::vector<int>& units) const;
  double tail_after(int task, int unit, const std::vector<int>& units) const;
  void compute_paths(int task, const std::vector<int>& order, const std::vector<int>& units);
  double duration(int task, int unit) const {
    return unit < 0 ? least_time_[task] : instance_.time(task, decoder_.numbers().place(unit).type);
  }
  double transfer_seconds(int edge, int from, int to) const {
    return from < 0 || to < 0 ? 0 : decoder_.transfer_seconds(edge, from, to);
  }

  const Instance& instance_;
  const PlaceDecoder& decoder_;
  std::vector<double> least_time_;  // of each task, over the types
  std::vector<double> end_, tail_;  // of each task: the longest path to its end, and from its start
  std::vector<int> position_;
  std::vector<double> unit_end_,
      unit_tail_;  // of each unit: end of the task before a place, tail of the task after it
  std::vector<double> ready_by_data_, tail_by_data_;  // of each unit: the same by data of the task
};

}  // namespace cosched::dags::search
