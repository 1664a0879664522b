// Energetic reasoning: the least work that tasks must do inside an interval [a, b), whatever
// the schedule of at most T, against what m_q units can do in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

/// Least time that `task` spends inside the interval if it runs on its type: the lesser of what
/// remains when it starts as early and when it starts as late as it can.
inline double energy(const TimeWindows& windows, int task, const Interval& interval) {
  const double p = windows.instance().time(task, interval.type);
  const double early = windows.head(task) + p - interval.begin;
  const double late = interval.end - (windows.makespan() - windows.tail(task) - p);
  return std::max(0.0, std::min({p, interval.end - interval.begin, early, late}));
}

/// Intervals of one type in which fractional shares need too much.  Begins are heads and
/// latest starts of tasks, for each the worst end is found: O(n) after sorting.
class EnergySweep {
 public:
  struct Item {
    double head, p, latest, share;  // latest start
  };
  EnergySweep(int type, int units, std::vector<Item> items);
  /// `share[j]`: of task j on the type; tasks with share 0 are left out.
  EnergySweep(const TimeWindows& windows, int type, const std::vector<double>& share);

  struct Excess {
    Interval interval;
    double amount = 0;  // work needed - m_q (end - begin); may be negative
  };
  /// The worst interval that begins at `a`.
  Excess worst_from(double a) const;

  /// Different heads and latest starts of the tasks, at most `most` of them, evenly of the sorted.
  std::vector<double> begins(int most) const;

  int tasks() const { return static_cast<int>(items_.size()); }

 private:
  int type_, units_;
  std::vector<Item> items_;
  // Numbers of items, sorted by what the name says.
  std::vector<int> by_latest_, by_latest_end_, by_latest_and_early_end_, by_early_end_;
};

}  // namespace cosched::dags::proof
