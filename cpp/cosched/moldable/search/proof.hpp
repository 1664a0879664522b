// The best schedule of few jobs for one criterion, proved; or how far the proof came.
#pragma once

#include "cosched/moldable/search/labels.hpp"

namespace cosched::moldable::search {

/// Jobs that prove() takes at most: they are bits of a JobSet.
inline constexpr int kMostProvedJobs = 30;
/// Work by default: free steps looked at, some nanoseconds each.
inline constexpr std::int64_t kProofWork = 400'000'000;

/// How passes through the labels follow each other.
struct ProofPassParams {
  /// Labels that the first pass keeps for each number of jobs, and how many times more each pass
  /// keeps than the one before.
  std::size_t first_width = 100, width_factor = 4;
  /// After the passes of these widths annealing looks for a better schedule, because that drops
  /// labels.
  std::size_t annealing_width = 400, last_annealing_width = 1600;
  /// Annealings then, operations of each for each job, and the part of the remaining work that each
  /// may use at most: 1 / `work_divisor`.
  int annealings = 4;
  std::int64_t annealing_work = 1'000'000, work_divisor = 40;
  /// Operations of an annealing that take as long as a step of labels.
  std::int64_t operations_per_step = 4;
};

struct ProofOptions {
  Objective objective = Objective::makespan;
  std::int64_t work = kProofWork;
  std::optional<double> time_limit = std::nullopt;  // seconds
  LabelParams labels = {};
  /// The work by default: a proof with more work begins with what a proof with that much does.
  std::int64_t usual_work = kProofWork;
};

struct ProofResult {
  Placement placement;              // the caller's start, or a better one
  double bound = 0;                 // no schedule is better: the placement's value where is_proved
  bool is_proved = false;           // up to kProofRounding
  bool is_in_time = true;           // false: a time limit ended the search, not the work or memory
  std::int64_t remaining_work = 0;  // steps
};

/// Throws InvalidInstance above kMostProvedJobs jobs, and when work < 0.
void require_provable(const Instance& instance, const ProofOptions& options);

/// The first pass keeps only the hundred labels (labels.hpp) of least bound for each number of
/// jobs, the next four times as many, and so on, until one drops none: good schedules come early.
/// The least lower bound of the labels that were dropped, or not looked at when work or time is
/// over, is the bound.  What the first pass does not prove gets bounds that cost more: for the
/// makespan what one processor can do in its window (processor_patterns.hpp), for the minsum prices
/// of time (time_prices.hpp).
///
/// Any profiles, any releases.  `start`: a schedule to be beaten.  Throws as require_provable().
/// Exponential in n; some 2^n labels where one criterion decides.
ProofResult prove(const Instance& instance, const Placement& start, const ProofOptions& options);

}  // namespace cosched::moldable::search
