// local-search: the best schedule for one criterion of what the instance states.  Release dates are
// known in advance.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Up to so many jobs a proof of optimality is tried.
inline constexpr int kExactJobs = 12;

/// Effort by default: operations of anneal() (annealing.hpp) a job.
inline constexpr std::int64_t kSearchWork = 1'500'000;

struct SearchOptions {
  Objective objective = Objective::makespan;
  std::uint64_t seed = 0;
  std::int64_t work = kSearchWork;
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
  std::vector<Placement> starts;     // schedules of the caller's, valid for the instance
  bool proof = true;                 // few jobs: prove() follows
};

struct SearchResult {
  Placement placement;
  bool complete = true;  // false: a time limit ended the search
  bool proved = false;   // nothing is better: it meets a bound, or prove() says so
  double bound = 0;      // no schedule is shorter; 0: nothing is said
};

/// Operations a job, of all jobs.  Throws InvalidInstance when work < 0.
std::int64_t total_work(const Instance& instance, std::int64_t work);

/// With edges it is graph_search (graph_search.hpp), where jobs share something shared_search
/// (shared_search.hpp), else as follows.
///
/// Never worse in its criterion than the caller's starts, gang and sequential, whatever the limit;
/// nor than the first schedules (starts.hpp), where these were not ended: they may take half a
/// second whatever the limit.
///
/// Then annealing (annealing.hpp); what is above the default goes to longer and longer rounds of several annealings from
/// the best so far, in threads.  Ends when it meets a bound: the dual approximation's for the makespan, sum w_i (r_i +
/// min t_i) for minsum.  Up to kExactJobs jobs prove() follows, with as much work; up to kMostProvedJobs where there is
/// more work than the default, with half of it.  The result depends on instance, starts, seed and work only, but for a
/// time limit.  Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, const SearchOptions& options);

}  // namespace cosched::moldable::search
