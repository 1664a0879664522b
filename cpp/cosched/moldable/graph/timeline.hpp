// What is free of the processors and of each resource over time.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {

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

}  // namespace cosched::moldable::graph
