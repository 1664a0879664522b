// local-search and optimal for moldable jobs with precedence and resources: the makespan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/moldable/graph/decoder.hpp"
#include "cosched/moldable/graph/work_path.hpp"

namespace cosched::moldable::graph {

struct SearchOptions {
  std::uint64_t seed = 0;
  std::int64_t work = 0;             // operations in all: breakpoints looked at
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
  std::vector<Placement> starts;     // schedules of the caller's, valid for the instance
};

struct Found {
  Placement placement;
  double bound = 0;      // no schedule is shorter
  bool proved = false;   // up to rounding
  bool complete = true;  // false: a time limit ended it
};

/// Lists with the allotments of round_work_path, allot_locally and every trade-off that the programme asked for; then
/// annealing on order and counts, each job at its earliest fit, the best justified.  Never worse than `starts`, nor than a list
/// by bottom levels on the fastest and on the cheapest counts, whatever the limit.
Found local_search(const Instance& instance, const SearchOptions& options);

/// Jobs that optimal() takes.
inline constexpr int kMostExactJobs = 12;

/// The best schedule, proved: local_search() on a little of the work, then branch and bound over jobs in the order of their
/// starts, each at its earliest fit that is not before the last start (some optimal schedule is one of these).  Where work
/// or time is over, `bound` is the programme's.  Exponential.  Throws InvalidInstance above kMostExactJobs.
Found optimal(const Instance& instance, const SearchOptions& options);

}  // namespace cosched::moldable::graph
