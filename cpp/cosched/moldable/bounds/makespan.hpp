// Lower bounds on the makespan.  Each is valid for any profiles and respects release dates.
#pragma once

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::bounds {

/// A bound that a search proved.
struct BoundResult {
  double value = 0;
  bool complete = true;  // false: the time limit or the work ended the search earlier
};

/// max_i (r_i + min_q t_i(q)).  O(n).
double longest_bound(const Instance& instance);

/// The machine does the least work of the jobs that are released at r or later after r, for every
/// r: max_r (r + sum_{r_i >= r} min_q q t_i(q) / m), and where jobs share something the same for
/// every resource (areas.hpp).  O(n log n log m) without sharing.
double area_bound(const Instance& instance);

/// Least d with sum_{r_i >= r} S_i(d - r_i) <= m (d - r) for every r: as area_bound, but a job that
/// must end by d needs the work S_i of ending in time.  Of processors alone, and there never below
/// the other two (up to kExactTolerance, to which d is bisected).  O(n log n log m) for each d.
double window_bound(const Instance& instance);

}  // namespace cosched::moldable::bounds
