// The best schedule of few jobs for one criterion, proved; or how far the proof came.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Jobs are bits of a set.
inline constexpr int kMostProvedJobs = 30;
/// Effort by default: steps of availability looked at, some nanoseconds each.
inline constexpr std::int64_t kProofWork = 400'000'000;

struct ProofOptions {
  Objective objective = Objective::makespan;
  std::int64_t work = kProofWork;
  std::optional<double> time_limit = std::nullopt;  // seconds
};

struct Proof {
  Placement placement;  // `start`, or a better one
  double bound = 0;     // no schedule is better: the placement's value where it is proved
  bool proved = false;  // up to rounding (1e-12)
  bool in_time = true;  // false: a time limit ended the search, else the work did
};

/// Throws InvalidInstance above kMostProvedJobs jobs, and when work < 0.
void require_provable(const Instance& instance, const ProofOptions& options);

/// Labels over sets of jobs.  In some optimal schedule every job starts as early as the order of
/// starts, its release and its count let it; so a schedule is an order of (job, count), and all that the
/// rest must know of a beginning is when how many processors are free: times that are not before the
/// last start.  Labels of one number of jobs are made from those of one job fewer.  One is dropped
///   - where another of the same jobs has every processor free no later, at no more cost so far;
///   - where a job that is not in it could start and end before the last start (Giffler, Thompson:
///     the hole would stay open for nothing), or an equal job of lower number is not in it;
///   - where a lower bound on what it becomes is not below the best schedule known.  Makespan: area from
///     the free times on, for each release, with each job's least work that ends in time; jobs one
///     at a time; jobs of which at most k fit side by side; from the second pass on, where it proves
///     more of all jobs than the first pass did, what one processor can do in its window (patterns.hpp).
///     Minsum: each job alone; areas in Smith's order on the chord of the free area, which is linear
///     and nowhere above it.
/// First only the hundred labels of each number of jobs with the least bounds go on, then four times as
/// many, and so on, until none is dropped: good schedules come early.  What was dropped, or may still
/// come when work or time is over, has a lower bound: the least of them is the bound.
/// What is not proved for the makespan by a few passes, with no releases and few jobs, goes to halves
/// of schedules that meet (halves.hpp): whether any ends before deadlines further and further on.
/// Any profiles, any releases.  `start`: a schedule to be beaten.  Throws as require_provable.  Exponential in n; some 2^n labels where one criterion decides.
Proof prove(const Instance& instance, const Placement& start, const ProofOptions& options);

}  // namespace cosched::moldable::search
