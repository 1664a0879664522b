// How much a refuter may do for one T, by the size of the instance.
#pragma once

#include "cosched/dags/proof/bisection.hpp"

namespace cosched::dags::proof {

/// A row of a linear programme that is broken by less (relative to T) is not worth its pivots.
inline constexpr double kWorthwhile = 1e-6;

/// Steps that the interior point method usually takes.
inline constexpr int kUsualSteps = 16;

/// What both refuters do.
struct Effort {
  int passes;      // of closing pairs by the prices of a linear programme, and pruning again
  int rounds;      // of adding rows to the programme
  int begins;      // of intervals, for each type
  int load_heads;  // of the passes that raise them; O(n (n + e)) for each mixture of types
  bool each_type;  // load heads of single types too, and again after pruning
};

/// And where transfers cost time.
struct TransferEffort : Effort {
  int earlier;       // prices of programmes at other T that are tried again
  bool clusters;     // in pruning
  double guesses;    // steps for types of tasks and ways of edges, each by pruning, at one T
  double tolerance;  // of the linear programme
  double work;       // multiplications that all linear programmes may take
};

// Of a linear programme's factors; about two nanoseconds each.
inline constexpr double kWork = 2e9;

inline constexpr bool kEachType = true, kMixture = false;     // each_type
inline constexpr bool kClusters = true, kNoClusters = false;  // clusters

inline Effort effort_for(const Instance& instance) {
  const int n = instance.tasks();
  // passes, rounds, begins, load_heads, each_type
  if (n <= 120) return {6, 40, 300, 6, kEachType};
  if (n <= 400) return {3, 20, 100, 1, kEachType};
  if (n <= 2000) return {2, 8, 30, 1, kMixture};
  if (n <= kLarge) return {2, 6, 20, 0, kMixture};
  return {1, 2, 6, 0, kMixture};
}

inline TransferEffort transfer_effort_for(const Instance& instance) {
  const int n = instance.tasks();
  // {passes, rounds, begins, load_heads, each_type}, earlier, clusters, guesses, tolerance, work
  if (n <= 40) return {{6, 8, 300, 6, kEachType}, 8, kClusters, 2e8, 1e-7, kInfinity};
  if (n <= 100) return {{6, 8, 300, 6, kEachType}, 4, kClusters, 4e7, 1e-6, kInfinity};
  if (n <= 200) return {{3, 4, 100, 3, kEachType}, 3, kClusters, 3e7, 1e-6, kInfinity};
  if (n <= 500) return {{2, 2, 50, 2, kEachType}, 2, kClusters, 0, 1e-5, kWork};
  if (n <= 2000) return {{1, 1, 20, 1, kMixture}, 1, kNoClusters, 0, 1e-4, kWork};
  return {{1, 1, 10, 0, kMixture}, 1, kNoClusters, 0, 1e-4, kWork};
}

// What a step of a refutation comes to.

enum class Outcome {
  refuted,  // nothing is left: no schedule is as short as T
  closed,   // something that was open is not any more: prune again
  nothing,
};

}  // namespace cosched::dags::proof
