// The best schedule of few jobs for one criterion, proved; or how far the proof came.
#pragma once

#include "cosched/moldable/search/labels.hpp"

namespace cosched::moldable::search {

/// Jobs are bits of a set.
inline constexpr int kMostProvedJobs = 30;
/// Effort by default: steps of availability looked at, some nanoseconds each.
inline constexpr std::int64_t kProofWork = 400'000'000;

struct ProofOptions {
  Objective objective = Objective::makespan;
  std::int64_t work = kProofWork;
  std::optional<double> time_limit = std::nullopt;  // seconds
  std::size_t label_steps = kLabelSteps;
  std::int64_t usual_work = kProofWork;  // by default: more than that adds to what that much does
};

struct ProofResult {
  Placement placement;     // `start`, or a better one
  double bound = 0;        // no schedule is better: the placement's value where it is proved
  bool is_proved = false;  // up to rounding (1e-12)
  bool is_in_time = true;  // false: a time limit ended the search, else the work did, or the room
  std::int64_t remaining_work = 0;  // of the work
};

/// Throws InvalidInstance above kMostProvedJobs jobs, and when work < 0.
void require_provable(const Instance& instance, const ProofOptions& options);

/// First only the hundred labels (labels.hpp) of each number of jobs with the least bounds go on,
/// then four times as many, and so on, until none is dropped: good schedules come early.  What was
/// dropped, or may still come when work or time is over, has a lower bound: the least of them is
/// the bound. What the first pass does not prove gets bounds that cost more: for the makespan what
/// one processor can do in its window (patterns.hpp), for the minsum prices of time
/// (time_prices.hpp). Any profiles, any releases.  `start`: a schedule to be beaten.  Throws as
/// require_provable.  Exponential in n; some 2^n labels where one criterion decides.
ProofResult prove(const Instance& instance, const Placement& start, const ProofOptions& options);

// optimal: a short search, then a proof.

/// The best schedule of at most kMostProvedJobs jobs for one criterion: local_search() on a little
/// of the work and a tenth of the time, then prove() from what it found; where that has no room to
/// go on local_search() again, with what is left.  With edges or resources it is graph_proof()
/// (graph_search.hpp). Deterministic but for a time limit.
ProofResult optimal(const Instance& instance, const ProofOptions& options = {});

}  // namespace cosched::moldable::search
