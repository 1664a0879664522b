// Certificates: what the searches for bounds hand over, and all that a check knows of them.
#pragma once

#include "cosched/dags/hlp/certificate.hpp"

namespace cosched::dags::proof {

/// Relative slack of a proof: what a T must be broken by in a check.
inline constexpr double kProofSlack = 1e-10;

/// The same in a search: more than a check asks for, so that its rounding does not matter.
inline constexpr double kSearchSlack = 2 * kProofSlack;

/// [begin, end) on the units of one type.
struct TypeInterval {
  int type = 0;
  double begin = 0, end = 0;
};

struct PricedInterval {
  TypeInterval interval;
  double price = 0;
};

/// One step of a refutation.  Either load heads and tails with `load_weights` (of the types, sum
/// 1), or a combination of rows: prices of the loads, a flow of paths, prices of intervals.
struct RefutationStage {
  std::vector<double> load_weights;  // Q, or empty
  std::vector<double> loads;         // Q
  std::vector<double> task_flow;     // n, or empty: no flow
  std::vector<hlp::EdgeFlow> edge_flow;
  std::vector<PricedInterval> intervals;
};

/// No schedule is as short as `makespan`: prune, then each stage and prune after it; the last stage
/// (or pruning) leaves nothing.  Without `makespan` (0): nothing is refuted.
struct Refutation {
  double makespan = 0;
  std::vector<RefutationStage> stages;
};

/// Proof of a bound: of LP*, and of a T that is refuted.
struct WindowsCertificate {
  hlp::HlpCertificate relaxation;
  Refutation refutation;
};

/// A type of a task, or a placement of an edge (type_costs.hpp), that does not fit: pruning of the
/// rest, with nothing else open for the task or edge, leaves nothing.
struct TransferGuess {
  bool is_edge = false;
  int item = 0;    // task or edge
  int choice = 0;  // type or placement
};

/// One step of a refutation.  Load heads and tails with `load_weights` (of the types, sum 1); or
/// choices that `guesses` close, one after the other; or a combination of rows: prices of the
/// loads, a flow of paths (what enters a task beyond its edges' flow comes after its head, what
/// leaves comes before its tail), shifts, prices of intervals.
struct TransferStage {
  std::vector<double> load_weights;  // Q, or empty
  std::vector<double> loads;         // Q
  std::vector<double> task_flow;     // n, or empty: no flow
  std::vector<double> edge_flow;     // a number an edge; empty without flow
  std::vector<double> shift;         // Q numbers an edge, or empty: 0
  std::vector<PricedInterval> intervals;
  std::vector<TransferGuess> guesses;
};

/// No schedule is as short as `makespan`: prune, then each stage and prune after it; the last stage
/// (or pruning) leaves nothing.  Without `makespan` (0): nothing is refuted.
struct TransferRefutation {
  double makespan = 0;
  std::vector<TransferStage> stages;
  bool uses_clusters =
      false;  // pruning looks at clusters too (transfer_windows.hpp); O(n^2 log n) a round
};

/// Proof of a bound: one that holds without transfers, and a T that is refuted with them.
struct TransfersCertificate {
  WindowsCertificate windows;
  TransferRefutation refutation;
};

}  // namespace cosched::dags::proof
