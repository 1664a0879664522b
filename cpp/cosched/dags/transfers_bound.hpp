// The bound `transfers`: the largest T of which it is proved that no schedule is as short, where data
// that moves between memories costs time.
//
// For a guess T, tasks have heads and tails by type, and some types, and pairs of types of an edge,
// are closed (transfer_windows.hpp).  What is left must satisfy, for every schedule of at most T and
// its allocation x, with y_e[q][r] = 1 where the ends of edge e = (i, j) run on q and r,
//   loads     sum_j p_jq x_jq <= m_q T
//   edges     C_i + sum c_e[q][r] y_e[q][r] + p_j(x) <= C_j
//   windows   sum_q x_jq (head_jq + p_jq) <= C_j,   C_j + sum_q x_jq tail_jq <= T
//   energy    sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
//   plans     sum_r y_e[q][r] = x_iq,   sum_q y_e[q][r] = x_jr.
// A combination of them with prices refutes T where even the cheapest types break it, as in
// windows.hpp.  The price of a plan is a shift s_e[q]: what edge e adds to the price of its first task
// on q.  Its second task gets on r the least, over open pairs (e, q, r), of f_e c_e[q][r] - s_e[q]: so
// every shift proves something, and the check is O(e Q^2).
#pragma once

#include <optional>
#include <vector>

#include "cosched/dags/type_costs.hpp"
#include "cosched/dags/windows.hpp"

namespace cosched::dags {

/// A type of a task, or a way of an edge (type_costs.hpp), that does not fit: pruning of the rest,
/// with nothing else open for the task or edge, leaves nothing.
struct TransferGuess {
  bool of_edge = false;
  int item = 0;    // task or edge
  int choice = 0;  // type or way
};

/// One step of a refutation.  Load heads and tails with `raise` (weights of the types, sum 1); or
/// choices that `guesses` close, one after the other; or a combination of rows: prices of the loads, a flow of paths (what enters a task beyond its
/// edges' flow comes after its head, what leaves comes before its tail), shifts, prices of intervals.
struct TransferStage {
  std::vector<double> raise;      // Q, or empty
  std::vector<double> loads;      // Q
  std::vector<double> task_flow;  // n, or empty: no flow
  std::vector<double> edge_flow;  // a number an edge; empty without flow
  std::vector<double> shift;      // Q numbers an edge, or empty: 0
  std::vector<PricedInterval> intervals;
  std::vector<TransferGuess> guesses;
};

/// No schedule is as short as `makespan`: prune, then each stage and prune after it; the last stage
/// (or pruning) leaves nothing.  Without `makespan` (0): nothing is refuted.
struct TransferRefutation {
  double makespan = 0;
  std::vector<TransferStage> stages;
  bool clusters =
      false;  // pruning looks at clusters too (transfer_windows.hpp); O(n^2 log n) a round
};

/// Proof of a bound: one that holds without transfers, and a T that is refuted with them.
struct TransfersCertificate {
  WindowsCertificate windows;
  TransferRefutation refutation;
};

/// The bound that the certificate proves, checked from scratch without a solver, by code that the
/// solvers do not share.  Throws SolverError where it proves nothing.  O(n Q + e Q^2 + n intervals) a
/// stage (a guess, where it has such) and a round of pruning, with a factor log(n) for joins; O(n (n + e)) for stages with
/// `raise`.  A proof for an instance holds for every instance whose transfers cost no less.
double certified_bound(const Instance& instance, const TransfersCertificate& certificate);

struct TransfersOptions {
  /// Makespan of a schedule: the T just below it is tried first, and none above.
  std::optional<double> upper;
  /// Relative width of the bisection's last interval; ten times that above 10,000 tasks.
  double precision = 1e-4;
};

struct TransfersBound {
  double value = 0;  // at most every makespan
  TransfersCertificate certificate;
  bool complete = true;  // false: a time limit ended the search, the value is the best so far
};

/// `windows`: a proof without transfers, which is where the search begins.
TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const TransfersOptions& options = {});

}  // namespace cosched::dags
