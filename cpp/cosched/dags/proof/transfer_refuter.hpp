// Tries to prove that no schedule is as short as a makespan where transfers cost time: the search
// behind transfers_bound.hpp.
#pragma once

#include <utility>
#include <vector>

#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/transfer_lp.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

class TransferRefuter {
 public:
  /// `weights`: of the loads in LP*, a mixture of the types.
  TransferRefuter(const TypeCosts& costs, std::vector<double> weights,
                  const TransferEffort& effort);

  /// Prices and intervals are kept for the next T.
  Attempt<TransferRefutation> refute(const Question& question);

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

}  // namespace cosched::dags::proof
