// A bound on the makespan of jobs with precedence and resources by refuting makespans.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::graph {

/// Beyond so many jobs, or counts of all jobs, nothing is refuted.
inline constexpr int kMostDestructiveJobs = 300;
inline constexpr int kMostDestructiveCounts = 20'000;

struct DestructiveResult {
  double value = 0;
  bool complete = true;                // false: the time limit ended the search
  std::optional<Placement> placement;  // the shortest schedule found; none is shorter than `high`
};

/// The longest makespan that is refuted, from `low` (a bound) on and at most `high` (the makespan
/// of a schedule; infinite: none is known).
///
/// Within a makespan L each job has a window.  Windows shrink by precedence, by pairs of jobs that
/// do not fit next to each other, and by energetic reasoning: in an interval the jobs need at
/// least the part of their energy that no start in their windows moves out of it (Baptiste, Le
/// Pape, Nuijten 1999).  L is refuted where a window is too short for its job or an interval is
/// overfull; where neither is so, by a search (destructive improvement: Klein, Scholl 1999).
/// Slow-downs are left out.
///
/// Where all times and releases are integers, and nothing slows jobs down, only integer makespans
/// are looked at.  If moreover each job has one count, the search is project_search.hpp, which also
/// finds schedules; enough work then finds the optimum.  Else it orders pairs of jobs and halves
/// windows of jobs on one count (Vilim, Laborie, Shaw, Failure-directed search, 2015), and the
/// bound of times that are no integers is found to a millionth.
///
/// Deterministic for the same `work` of the search, about a nanosecond each; work 0: windows alone,
/// which take some seconds at most.
DestructiveResult destructive_bound(const Instance& instance, double low, double high,
                                    std::int64_t work, std::optional<double> time_limit);

}  // namespace cosched::moldable::graph
