// What every search for one criterion takes and gives.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

/// Up to so many jobs a proof of optimality is tried with the default work.
inline constexpr int kExactJobs = 12;

/// Work by default: operations of anneal() (annealing.hpp) for each job.
inline constexpr std::int64_t kSearchWork = 1'500'000;

struct SearchOptions {
  Objective objective = Objective::makespan;
  std::uint64_t seed = 0;
  std::int64_t work = kSearchWork;
  std::optional<double> time_limit;  // seconds; the result then depends on the machine's speed
  std::vector<Placement> starts;     // schedules of the caller's, valid for the instance
  bool proof = true;                 // with few jobs a proof of optimality follows
};

struct SearchResult {
  Placement placement;
  bool is_complete = true;             // false: a time limit ended the search
  bool is_proved = false;              // nothing is better: it meets a bound, or a proof says so
  double bound = 0;                    // no schedule is shorter; 0: no bound is known
  bool has_destructive_bound = false;  // else the bound is that of the linear program
};

/// The operations of all jobs for `work` operations of each.  Throws InvalidInstance when work < 0.
std::int64_t total_work(const Instance& instance, std::int64_t work);

}  // namespace cosched::moldable::search
