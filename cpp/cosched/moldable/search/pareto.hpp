// Schedules of which none is better than another in both criteria.
#pragma once

#include <vector>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

struct ParetoPoint {
  Criteria value;
  Placement placement;
};

/// The non-dominated schedules of those offered, by increasing makespan (so decreasing minsum).
class ParetoFront {
 public:
  /// Whether a schedule with these values would enter: none here is at least as good in both.
  /// O(log size).
  bool accepts(const Criteria& value) const;

  /// Takes it if accepts(), and drops what it dominates.
  void offer(const Criteria& value, Placement placement);
  void offer(const Instance& instance, Placement placement);

  const std::vector<ParetoPoint>& points() const { return points_; }

 private:
  std::vector<ParetoPoint>::const_iterator first_longer(double makespan) const;

  std::vector<ParetoPoint> points_;
};

/// log(minsum) + theta log(makespan): free of units.  A minsum of 0 counts as 1.
double scalar(const Criteria& value, double theta);

/// Number of the point of least scalar(theta) among those that are no worse than `reference` in
/// either criterion; of all points where there is none.  Requires a point.
int choose(const ParetoFront& front, double theta, const Criteria& reference);

}  // namespace cosched::moldable::search
