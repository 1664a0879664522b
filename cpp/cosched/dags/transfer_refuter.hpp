// Tries to prove that no schedule is as short as a makespan where transfers cost time: the search
// behind transfers_bound.hpp.
#pragma once

#include <utility>
#include <vector>

#include "cosched/dags/transfer_lp.hpp"
#include "cosched/dags/transfer_windows.hpp"

namespace cosched::dags {

/// How much a TransferRefuter may do for one T, by the size of the instance.
struct TransferEffort {
  int passes;        // of closing pairs by prices, and pruning again
  int rounds;        // of adding rows of energy to the linear programme
  int begins;        // of intervals, for each type
  int load_heads;    // times that they are raised; O(n (n + e)) for each mixture of types
  bool each_type;    // load heads of single types too
  int earlier;       // prices of programmes at other T that are tried again
  bool clusters;     // in pruning
  double guesses;    // steps for types of tasks and ways of edges, each by pruning, at one T
  double tolerance;  // of the linear programme
  double work;       // multiplications that all linear programmes may take
};

class TransferRefuter {
 public:
  /// `weights`: of the loads in LP*, a mixture of the types.
  TransferRefuter(const TypeCosts& costs, std::vector<double> weights,
                  const TransferEffort& effort);

  /// True: refuted, and take_proof() tells why.  Prices and intervals are kept for the next T.
  /// `quick`: without a linear programme, by what is kept.
  bool refute(double makespan, bool quick);
  /// What the linear programme at the last T came to; 0 where none was solved.
  double reach() const { return reach_; }
  TransferRefutation take_proof() { return std::move(proof_); }

 private:
  bool decide(TransferWindows& windows, bool quick);
  TransferStage at(const TransferStage& earlier, double makespan) const;
  bool combine_earlier(TransferWindows& windows);
  bool raise_heads(TransferWindows& windows);
  bool energy_alone(const TransferWindows& windows);
  bool guess(TransferWindows& windows);
  bool programme(TransferWindows& windows, bool& closed);
  bool combine(TransferWindows& windows, TransferStage stage, bool& closed);
  EnergySweep sweep(const TransferWindows& windows, int type, const Table& share) const;
  std::vector<Interval> broken(const TransferWindows& windows, const Table& share) const;

  const TypeCosts& costs_;
  std::vector<double> weights_;
  TransferEffort effort_;
  TransferRefutation proof_;
  struct Kept {
    Interval interval;
    double from_end;  // distance of its end from T
  };
  std::vector<Kept> kept_;
  std::vector<TransferStage> earlier_;  // of linear programmes, at other T, the last ones
  double reach_ = 0;
};

}  // namespace cosched::dags
