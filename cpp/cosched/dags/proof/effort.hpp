// How much a refuter may do for one T, by the size of the instance.
#pragma once

#include "cosched/dags/model/instance.hpp"

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

Effort effort_for(const Instance& instance);
TransferEffort transfer_effort_for(const Instance& instance);

// What a step of a refutation comes to.

enum class Outcome {
  refuted,  // nothing is left: no schedule is as short as T
  closed,   // something that was open is not any more: prune again
  nothing,
};

}  // namespace cosched::dags::proof
