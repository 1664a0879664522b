// Energetic reasoning: the least work that tasks must do inside an interval [a, b), whatever
// the schedule of at most T, against what m_q units can do in it.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cosched/core/times.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::proof {

/// Least time that `task` spends inside the interval if it runs on its type: the lesser of what
/// remains when it starts as early and when it starts as late as it can.
template <class Windows>
double energy(const Windows& windows, int task, const Interval& interval) {
  const int type = interval.type;
  const double p = windows.instance().time(task, type);
  const double early = windows.head(task, type) + p - interval.begin;
  const double late = interval.end - (windows.makespan() - windows.tail(task, type) - p);
  return std::max(0.0, std::min({p, interval.end - interval.begin, early, late}));
}

/// An interval that is kept from one T to the next: its end keeps its distance from T.
struct KeptInterval {
  int type = 0;
  double begin = 0, from_end = 0;

  KeptInterval(const Interval& interval, double makespan)
      : type(interval.type), begin(interval.begin), from_end(makespan - interval.end) {}
  /// Empty: nothing is left of it at this T.
  std::optional<Interval> at(double makespan) const {
    const double end = makespan - from_end;
    if (end <= begin) return std::nullopt;
    return Interval{type, begin, end};
  }
};

/// Intervals of one type in which fractional shares need too much.  Begins are heads and
/// latest starts of tasks, for each the worst end is found: O(n) after sorting.
class EnergySweep {
 public:
  struct Item {
    double head, p, latest, share;  // latest start
  };
  EnergySweep(int type, int units, std::vector<Item> items);

  struct Excess {
    Interval interval;
    double amount = 0;  // work needed - m_q (end - begin); may be negative
  };
  /// The worst interval that begins at `a`.
  Excess worst_from(double a) const;

  /// Those from `begins` that exceed by more than is worth a row of a programme.
  std::vector<Excess> broken(const std::vector<double>& begins, double makespan) const;

  /// Different heads and latest starts of the tasks, at most `most` of them, evenly of the sorted.
  std::vector<double> begins(int most) const;

  int tasks() const { return static_cast<int>(items_.size()); }

 private:
  int type_, units_;
  std::vector<Item> items_;
  // Numbers of items, sorted by what the name says.
  std::vector<int> by_latest_, by_latest_end_, by_latest_and_early_end_, by_early_end_;
};

/// `share(j, q)`: of task j on type q; tasks with share 0 of the type are left out.
template <class Windows>
EnergySweep sweep_of(const Windows& windows, int type, const Table& share) {
  const Instance& instance = windows.instance();
  std::vector<EnergySweep::Item> items;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (share(task, type) <= 0 || !windows.open(task, type)) continue;
    const double p = instance.time(task, type);
    if (p > 0)
      items.push_back({windows.head(task, type), p,
                       windows.makespan() - windows.tail(task, type) - p,
                       std::min(1.0, share(task, type))});
  }
  return {type, instance.units(type), std::move(items)};
}

}  // namespace cosched::dags::proof
