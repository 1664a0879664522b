// Orders and choices as schedules: each job at its earliest fit.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {

// What is free of the processors and of each resource over time.

/// Steps between breakpoints; everything is free at first.  Shares of the machine, as Choice has them.
class Timeline {
 public:
  Timeline(int machines, int measures) : machines_(machines), measures_(measures) { clear(); }

  void clear();
  /// The earliest start >= from of a choice.  O(breakpoints x measures).
  double earliest(const Choice& choice, double from) const;
  /// Takes it from `start` on.  O(breakpoints x measures).
  void take(const Choice& choice, double start);
  /// Breakpoints looked at so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  std::size_t cut(double at);
  bool fits(std::size_t step, const Choice& choice) const;

  int machines_, measures_;
  std::vector<double> time_;  // free_ holds [time_[k], time_[k + 1])
  std::vector<double> free_;  // measures_ a step: processors, then the free part of each resource
  mutable std::int64_t operations_ = 0;
};

/// Order in which jobs are put, predecessors first; starts and the makespan that follow.
struct Decoded {
  std::vector<int> order;
  Chosen chosen;
  std::vector<double> start;
  double makespan = 0;
};

class Decoder {
 public:
  /// `instance` and `choices` must outlive it.
  Decoder(const Instance& instance, const Choices& choices);

  /// Sets starts and makespan from order and choices.  O(n breakpoints).
  void decode(Decoded& made);

  /// Right, then left (forward-backward improvement of project scheduling): jobs by falling ends from the end of the
  /// schedule on, then by the starts that this gives.  Without releases never longer; repeated while it is shorter.
  void justify(Decoded& made);

  /// Jobs in the order of their starts.
  static std::vector<int> by_start(const TaskGraph& graph, const std::vector<double>& start);

  Placement placement(const Decoded& made) const;
  const TaskGraph& graph() const { return *graph_; }
  std::int64_t operations() const { return operations_ + timeline_.operations(); }

 private:
  double length(const Decoded& made, int i) const { return choices_[i][made.chosen[i]].time; }

  const Instance& it_;
  const Choices& choices_;
  const Precedence graph_;
  Timeline timeline_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::graph
