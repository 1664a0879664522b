// What all batch policies are given, and what they leave behind.
#pragma once

#include "cosched/cluster/batch/site.hpp"
#include "cosched/cluster/model/outcome.hpp"

namespace cosched::cluster::batch {

enum class Estimates {
  perfect,    // expected end = end
  requested,  // expected end = start + estimate; a job that outlives it is expected to end now
};

/// Conservative backfilling plans jobs without a limit as this long (s, a million years), and each
/// a second longer than the one planned before it: so the later one cannot end before the earlier.
inline constexpr double kNoEnd = 35184372088832.0;  // 2^45

/// The order of the queue; equal keys by submission.
struct Order {
  bool wfp3 = false;  // equal keys by decreasing (wait / expected run time)^3 tasks, at each pass
  std::vector<double> key;  // by job, smallest first; empty = all equal
};

/// What a simulation says beyond the outcome: shares[j * cells + c] nodes of cell c.
struct PlacedOutcome {
  Outcome outcome;
  std::vector<int> shares;
};

/// The same on nodes with memory and GPUs.
struct SiteOutcome {
  Outcome outcome;
  std::vector<Placement> placements;  // by job
};

}  // namespace cosched::cluster::batch
