// Tries to prove that no schedule is as short as a makespan T where transfers cost time: the search
// behind transfers_bound.hpp.
//
// What was closed at a longer T that was not refuted is closed from the beginning, and its stages are
// the first of the proof.  A bare question ends after 1.  In this order, each with pruning after whatever it closes, and from 2 again where 5 or 6 has closed something:
//   1. prune: heads and tails by type, joins (transfer_windows.hpp), clusters (transfer_guesses.hpp);
//   2. load heads (open_types.hpp);
//   3. an interval in which tasks without a choice need too much (energetic.hpp) refutes T;
//   4. guesses: types and ways with which 1 leaves nothing (transfer_guesses.hpp), then 3 again;
//   5. the combined rows of linear programmes at other T, with intervals that follow T;
//   6. only if the question is a full one, the programme of what is open (transfer_lp.hpp), with rows of
//      energy as its shares break them; its prices make a combined row (transfer_combination.hpp).
// A combined row refutes T or closes the pairs and ways with which it cannot hold.  What raised, closed
// or refuted something is a stage of the proof.
#pragma once

#include <optional>
#include <vector>

#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

class TransferRefuter {
 public:
  /// `load_weights`: of the loads in LP*, a mixture of the types.
  TransferRefuter(const TypeCosts& costs, std::vector<double> load_weights, double known,
                  const TransferEffort& effort);

  /// Prices and intervals are kept for the next T.
  Attempt<TransferRefutation> refute(const Question& question);

 private:
  // A combined row at another T: its intervals apart, to follow T.
  struct EarlierStage {
    struct Priced {
      KeptInterval interval;
      double price;
    };
    TransferStage rows;
    std::vector<Priced> intervals;
    TransferStage at(double makespan) const;
  };

  TransferWindows begin(double makespan);
  void keep_left(TransferWindows windows);
  // True: T is refuted.
  bool decide(TransferWindows& windows, Depth depth);
  bool prune(TransferWindows& windows) const;
  bool raise_heads(TransferWindows& windows);
  bool energy_alone(const TransferWindows& windows);
  bool guess(TransferWindows& windows, int pass, Depth depth);
  Outcome combine_earlier(TransferWindows& windows);
  Outcome by_programme(TransferWindows& windows);
  Outcome combine(TransferWindows& windows, TransferStage stage);

  // The programme's prices as a combined row; empty: there are none.
  std::optional<TransferStage> solve_programme(const TransferWindows& windows);
  void keep(const TransferStage& stage, double makespan);
  std::vector<Interval> broken(const TransferWindows& windows, const Table& share) const;

  const TypeCosts& costs_;
  double known_;
  TransferEffort effort_;
  double work_left_;                               // of effort_.work
  double guesses_left_ = kInfinity;                // steps
  std::vector<std::vector<double>> mixtures_;      // of load heads
  std::vector<TransferStage> stages_;              // of the proof for the T in question
  double reach_ = 0;                               // of its last linear programme
  std::vector<KeptInterval> kept_, kept_refuted_;  // of the last programme, of the last T refuted
  std::vector<EarlierStage> earlier_;              // the last ones at last
  std::vector<TransferGuess> failed_before_;       // of the last T, before all else was closed
  // What was left of a T that was not refuted, and how.
  struct Left {
    TransferWindows windows;
    std::vector<TransferStage> stages;
  };
  std::vector<Left> above_;  // by falling T
  double hopeless_above_ = kInfinity;
};

}  // namespace cosched::dags::proof
