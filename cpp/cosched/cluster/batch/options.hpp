// What all batch policies are given, and what they return.
#pragma once

#include "cosched/cluster/batch/site.hpp"
#include "cosched/cluster/model/simulation_outcome.hpp"

namespace cosched::cluster::batch {

enum class BatchRule { fcfs, easy, conservative };

/// When a running job is expected to end.
enum class Estimates {
  perfect,    // at its end
  requested,  // at its start + estimate; a job that outlives its estimate is expected to end now
};

/// Conservative backfilling plans jobs without a limit as this long (s, a million years), and each
/// a second longer than the one planned before it: so the later one cannot end before the earlier.
inline constexpr double kUnlimitedRuntime = 35184372088832.0;  // 2^45

/// The order of the queue.  Jobs that it does not distinguish are in order of submission.
struct QueueOrder {
  /// Jobs with equal keys are in order of decreasing (wait / expected run time)^3 tasks, computed
  /// at each pass.
  bool wfp3 = false;
  /// By job, smallest first; empty: all equal.
  std::vector<double> keys;
};

/// The outcome, and shares[j * cells + c], the number of nodes of cell c that job j had.
struct PlacedOutcome {
  SimulationOutcome outcome;
  std::vector<int> shares;
};

/// The outcome on nodes with memory and GPUs.
struct SiteOutcome {
  SimulationOutcome outcome;
  std::vector<NodePlacement> placements;  // by job
};

}  // namespace cosched::cluster::batch
