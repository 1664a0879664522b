// Schedules of which none is better than another in both criteria.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

struct ParetoPoint {
  Criteria value;
  Placement placement;
};

/// The schedules that were offered and that no other one dominates, by increasing makespan and so
/// by decreasing minsum.
class ParetoFront {
 public:
  /// Whether no schedule of the front is at least as good in both criteria.  O(log size).
  bool accepts(const Criteria& value) const;

  /// Adds the schedule if accepts() says so, and drops those that it dominates.
  void offer(const Criteria& value, Placement placement);
  void offer(const Instance& instance, Placement placement);

  const std::vector<ParetoPoint>& points() const { return points_; }

 private:
  std::vector<ParetoPoint>::const_iterator first_longer(double makespan) const;

  std::vector<ParetoPoint> points_;
};

/// log(minsum) + theta log(makespan), whose differences do not depend on units.  A minsum of 0
/// counts as 1.
double scalarize(const Criteria& value, double theta);

/// The index of the point of least scalarize(theta) among those that are no worse than `reference`
/// in either criterion; among all points where there is none.  Requires a front that is not empty.
int choose_point(const ParetoFront& front, double theta, const Criteria& reference);

}  // namespace cosched::moldable::search
