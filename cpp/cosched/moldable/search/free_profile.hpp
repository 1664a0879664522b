// Processors that are free over time, as a sorted list of breakpoints.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {

/// All from time 0 to infinity at first.  Moments are compared exactly: an item that was put from
/// `start` to `end` is taken out with the same two numbers.
class FreeProfile {
 public:
  explicit FreeProfile(int machines) : machines_(machines) { clear(); }

  void clear();

  /// The earliest start >= from of an item of `procs` <= machines processors.  O(breakpoints).
  double earliest(int procs, double length, double from) const;

  /// Takes, or gives back, processors in [start, end).  O(breakpoints).
  void take(double start, double end, int procs) { change(start, end, -procs); }
  void give(double start, double end, int procs) { change(start, end, procs); }

  /// Breakpoints looked at so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  std::size_t cut(double at);
  void change(double start, double end, int procs);

  int machines_;
  std::vector<double> time_;  // free_[k] processors in [time_[k], time_[k + 1])
  std::vector<int> free_;
  mutable std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
