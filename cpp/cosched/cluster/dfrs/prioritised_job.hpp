// The priority of jobs and the order in which policies serve them.
#pragma once

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// flow time / (virtual time)^2; infinite at zero virtual time (Casanova, Stillwell, Vivien 2011,
/// section 4.1).  Times in seconds.
inline double priority_at(double now, double submit, double virtual_time) {
  return virtual_time > 0 ? (now - submit) / (virtual_time * virtual_time) : kInfinity;
}

/// An idle or running job as policies compare it.
struct PrioritisedJob {
  double priority;
  int rank;
  int shape = -1;  // its number in the IdleQueue; -1 where it is not needed
};

/// The order of service: decreasing priority, ties by rank (order of submission).
struct ServedBefore {
  bool operator()(const PrioritisedJob& a, const PrioritisedJob& b) const {
    return a.priority != b.priority ? a.priority > b.priority : a.rank < b.rank;
  }
};

/// Served before every job.
inline constexpr PrioritisedJob kBeforeAllJobs{.priority = kInfinity, .rank = -1};

}  // namespace cosched::cluster::dfrs
