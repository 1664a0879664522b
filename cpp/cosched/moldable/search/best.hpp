// demt-best: the package's own bi-criteria search.  Never worse than DEMT in either criterion.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

// Schedules of which none is better than another in both criteria.

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
double scalarize(const Criteria& value, double theta);

/// Number of the point of least scalar(theta) among those that are no worse than `reference` in
/// either criterion; of all points where there is none.  Requires a point.
int choose_point(const ParetoFront& front, double theta, const Criteria& reference);

/// Effort of the local search by default: jobs placed in all.
inline constexpr std::int64_t kDemtBestWork = 2'000'000;

struct DemtBestOptions {
  std::uint64_t seed = 0;
  std::int64_t work = kDemtBestWork;
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
};

struct DemtBestResult {
  ParetoFront front;  // everything that was seen and is not dominated
  int chosen_point;   // number of the schedule that is returned
  bool is_complete;   // false: a time limit ended the search
};

/// DEMT first; the schedule chosen at the end is no worse in either criterion, and otherwise the
/// one of least makespan x minsum.  DEMT may take half a second whatever the time limit; where a
/// limit ends it after that, the result is gang or sequential.
///
/// 1. Constructions: DEMT with C times 2^(k/4) and each local order; the dual approximation, its
///    allotment in three orders; gang and sequential; marginal_cost_schedule in two orders with
///    eight factors.
/// 2. Each criterion on its own: the starts of local_search (starts.hpp) and annealing from the
///    best.
/// 3. Local search on a list and an allotment, from the front's best for
///    log(minsum) + theta log(makespan), theta = 0, 1/4, 1, 4 in turn: a job moves in the list, or
///    gets another number of processors, or both; accepted when the value does not rise.
/// 4. With more work than the default 2 and 3 again, each round twice as long, where 3 is an
///    annealing; of the front then only what is no longer than what the round before would have
///    returned.
///
/// No release dates.  O(work log n) after the constructions.
DemtBestResult demt_best(const Instance& instance, const DemtBestOptions& options = {});

}  // namespace cosched::moldable::search
