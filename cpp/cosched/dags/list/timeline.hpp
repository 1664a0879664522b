// The idle times of one unit.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::list {

/// The idle times of one unit.
class Timeline {
 public:
  /// No task of the unit is shorter than `least_duration`: gaps that are shorter are not kept.
  explicit Timeline(double least_duration = 0) : least_duration_(least_duration) {}

  /// Earliest start >= ready of a task of length `duration`.
  double earliest(double ready, double duration) const;
  void occupy(double start, double end);
  /// Makes the unit idle at all times.
  void clear();

 private:
  // Idle time [begin, end) between two tasks, or from the last task on (end infinite).  Gaps are
  // disjoint and increasing, the last one is endless.
  struct Gap {
    double begin, end;
  };
  bool can_hold_tasks(const Gap& gap) const {
    // The sum that first_fit() compares, so that no rounding makes a difference.
    return gap.begin < gap.end && gap.begin + least_duration_ <= gap.end;
  }
  const Gap* first_fit(double ready, double duration) const;
  void add_joint(double time);

  double least_duration_;
  std::vector<Gap> gaps_{{0, kInfinity}};
  // Times at which two tasks touch each other, or a task touches time 0, increasing: there tasks of
  // length 0 fit.
  std::vector<double> joints_;
};

// The first gap that holds the task.  Gaps that end before ready + duration are skipped by
// bisection.
inline const Timeline::Gap* Timeline::first_fit(double ready, double duration) const {
  const Gap* gap = std::partition_point(gaps_.data(), gaps_.data() + gaps_.size() - 1,
                                        [&](const Gap& g) { return g.end < ready + duration; });
  while (std::max(ready, gap->begin) + duration > gap->end) ++gap;  // the last one is endless
  return gap;
}

inline double Timeline::earliest(double ready, double duration) const {
  const double in_gap = std::max(ready, first_fit(ready, duration)->begin);
  if (duration > 0) return in_gap;
  const auto joint = std::lower_bound(joints_.begin(), joints_.end(), ready);
  return joint == joints_.end() ? in_gap : std::min(in_gap, *joint);
}

}  // namespace cosched::dags::list
