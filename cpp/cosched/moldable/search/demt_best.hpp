// demt-best: the package's own bi-criteria search.  Never worse than DEMT in either criterion.
#pragma once

#include "cosched/moldable/search/pareto_front.hpp"

namespace cosched::moldable::search {

/// Work by default: jobs placed by the search over lists in all.
inline constexpr std::int64_t kDemtBestWork = 2'000'000;

struct DemtBestOptions {
  std::uint64_t seed = 0;
  std::int64_t work = kDemtBestWork;
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
};

struct DemtBestResult {
  ParetoFront front;  // all schedules that were seen and are not dominated
  int chosen_point;   // index of the schedule that is returned
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
/// 3. Local search on a list and an allotment (bicriteria_list_search.hpp), from the best point of
///    the front for log(minsum) + theta log(makespan), theta = 1, 1/4, 0, 4 in turn; a move is
///    accepted when the value does not rise.
/// 4. With more work than the default 2 and 3 again, each round twice as long, where 3 is an
///    annealing; the chosen point is then no longer than the one that the round before would have
///    returned.
///
/// No release dates.  O(work log n) after the constructions.
DemtBestResult demt_best(const Instance& instance, const DemtBestOptions& options = {});

}  // namespace cosched::moldable::search
