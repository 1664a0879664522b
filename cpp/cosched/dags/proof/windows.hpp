// The bound `windows`: the largest T of which it is proved that no schedule is as short.
//
// For a guess T of the makespan, tasks have windows and some types are closed to them
// (time_windows.hpp).  What is left must satisfy, for every schedule of at most T,
//   loads      sum_j p_jq x_jq <= m_q T
//   paths      head of the first + sum p_j(x) + tail of the last <= T, and flows of paths
//   energy     sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
// A combination of such rows with prices >= 0 refutes T where even the cheapest type of each task
// breaks it; where it does not, it closes the pairs (j, q) that would break it, and T is pruned
// again.  Bisection between LP* and an upper bound finds the largest T that is refuted.  Where data
// costs time the rows are others: transfers_bound.hpp, which says why that is an engine of its own.
#pragma once

#include <optional>
#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/open_types.hpp"
#include "cosched/dags/proof/time_windows.hpp"
#include "cosched/dags/proof/windows_lp.hpp"

namespace cosched::dags::proof {

// A combination of rows that hold for every schedule of at most T, and what it says of the pairs
// (task, type) that are still open.

/// Prices a pair: the sum over rows of price x coefficient of x_jq.
class Combination {
 public:
  Combination(const TimeWindows& windows, const RefutationStage& stage);

  /// By how much even the cheapest types break the combined row, less `slack` relative to its
  /// right side: T is refuted where this is > 0.
  double excess(double slack) const { return excess_ - slack * right_; }
  /// Open pairs of undecided tasks with which a schedule would break it.
  std::vector<Pair> broken_pairs(double slack) const;

 private:
  double price(int task, int type) const;

  const TimeWindows& windows_;
  const RefutationStage& stage_;
  std::vector<double> flow_;                                   // through each task
  std::vector<std::vector<const PricedInterval*>> intervals_;  // of each type
  std::vector<double> cheapest_;
  double excess_ = 0, right_ = 0;
};

// Tries to prove that no schedule is as short as a makespan T.
//
// In this order, and from the beginning again after whatever closes a pair:
//   1. prune: longest paths of least times close the types on which a task does not fit (time_windows.hpp);
//   2. load heads raise heads and tails, and prune again (open_types.hpp);
//   3. an interval in which tasks without a choice need too much (energetic.hpp) refutes T;
//   4. the linear programme of what is open (windows_lp.hpp): its prices make one row of all rows, which
//      refutes T or closes the pairs with which it cannot hold (Combination).
// What raised, closed or refuted something is a stage of the proof; pruning is not, the check does it
// after every stage anyway.

class Refuter {
 public:
  /// `relaxation`: proof of LP*; its weights and flow are the programme's first row.
  Refuter(const Instance& instance, const hlp::Certificate& relaxation, const Effort& effort);

  /// Rows that mattered are kept for the next T.
  Attempt<Refutation> refute(const Question& question);

 private:
  // True: T is refuted.
  bool decide(TimeWindows& windows);
  bool raise_heads(TimeWindows& windows);
  bool energy_alone(const TimeWindows& windows);
  Outcome by_programme(TimeWindows& windows);
  // A combined row refutes T, closes pairs, or says nothing.
  Outcome combine(TimeWindows& windows, RefutationStage stage);

  const Instance& instance_;
  const hlp::Certificate& relaxation_;
  Effort effort_;
  std::vector<std::vector<double>> mixtures_;  // of load heads
  std::vector<RefutationStage> stages_;        // of the proof for the T in question
  std::vector<KeptRow> kept_;
};

using WindowsBound = ProvenBound<WindowsCertificate>;

/// `relaxation`: of LP*, complete or not.  Above 10,000 tasks it is the bound where the loads alone or
/// one path alone prove it: anything more would cost a multiple of it.
WindowsBound windows_bound(const Instance& instance, const hlp::Certificate& relaxation,
                           const BoundOptions& options = {});

}  // namespace cosched::dags::proof
