// The identical units of one resource type, as list schedulers see them.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace cosched::dags::list {

/// Units 0..m-1; each is free from some time on, at first from 0.  More units than
/// tasks are never needed, so callers pass min(m_q, n).
class UnitPool {
 public:
  explicit UnitPool(int units) {
    for (int unit = 0; unit < units; ++unit) idle_units_.push(unit);
  }

  /// Time from which at least one unit is free.
  double earliest_idle() const { return idle_units_.empty() ? busy_units_.top().first : now_; }

  /// Takes the lowest-numbered unit that is free at `start` >= earliest(); it is busy
  /// until `end`.  Calls come with non-decreasing starts.
  int take_unit(double start, double end);

 private:
  using Release = std::pair<double, int>;  // (end, unit)
  std::priority_queue<int, std::vector<int>, std::greater<>> idle_units_;
  std::priority_queue<Release, std::vector<Release>, std::greater<>> busy_units_;
  double now_ = 0;
};

}  // namespace cosched::dags::list
