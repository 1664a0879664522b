// Costs of given packs with optimal processors (one_pack.hpp).
#pragma once

#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {

/// The co-schedule with these packs, processors by the optimal 1-pack algorithm.
/// Requires that `packs` partitions 0..n-1, each of tasks that fit on p processors together.
/// O(P p log k).
Coschedule with_optimal_procs(const Times& times, const Packs& packs);

/// Costs of many candidate partitions, without building co-schedules.  Arguments are not checked.
class CandidateCosts {
 public:
  explicit CandidateCosts(const Times& times) : times_(&times), solver_(times) {}

  /// Cost with optimal processors: that of with_optimal_procs; infinite where a pack does not fit.
  /// O(P p log k).
  double optimal_cost(const Packs& packs);
  /// Cost when each task has these processors and uses the best of them.  O(n).
  double cost_at_most(const Packs& packs, const std::vector<int>& procs) const;

 private:
  const Times* times_;
  OnePackSolver solver_;
};

}  // namespace cosched::packs::heuristic
