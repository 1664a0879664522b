// Tries to prove that no schedule is as short as a makespan T where transfers cost time: the search
// behind transfers_bound.hpp.
//
// Choices that were closed at a longer T that was not refuted are closed from the beginning, and
// the stages that closed them are the first of the proof.  A bare guess ends after 1.  The steps,
// each with pruning after it closes something, and from 2 again where 5 or 6 has closed something:
//   1. prune: heads and tails by type, joins (transfer_windows.hpp), clusters
//      (transfer_shaving.hpp);
//   2. load heads (load_heads.hpp);
//   3. an interval in which tasks without a choice of type need too much refutes T (energetic.hpp);
//   4. shaving of types and placements (transfer_shaving.hpp), then 3 again;
//   5. the combined rows of linear programmes at other T, with intervals that move with T;
//   6. for a full guess only, the programme of the open choices (transfer_lp.hpp), with rows of
//      energy as its shares violate them; its prices make one combined row
//      (transfer_combination.hpp).
// A combined row refutes T, or closes the types and placements with which it cannot hold.  Each
// step that raises, closes or refutes something is a stage of the proof.
#pragma once

#include "cosched/dags/proof/energy_sweep.hpp"
#include "cosched/dags/proof/makespan_guess.hpp"
#include "cosched/dags/proof/refuter_params.hpp"
#include "cosched/dags/proof/stage_outcome.hpp"
#include "cosched/dags/proof/transfer_combination.hpp"
#include "cosched/dags/proof/transfer_lp.hpp"
#include "cosched/dags/proof/transfer_shaving.hpp"

namespace cosched::dags::proof {

class TransferRefuter {
 public:
  /// `load_weights`: of the loads in LP*, a mixture of the types; `proven_bound`: seconds.
  TransferRefuter(const TypeCosts& costs, std::vector<double> load_weights, double proven_bound,
                  const TransferRefuterParams& params);

  /// Tries to refute a guess; keeps prices and intervals for the next one.
  RefutationResult<TransferRefutation> refute(const MakespanGuess& question);

 private:
  static constexpr int kUnlimitedTries = std::numeric_limits<int>::max();

  static double mean_slack(const TransferWindows& windows);

  // A combined row of another T.  Its intervals are kept apart, because they move with T.
  struct EarlierStage {
    struct SlidingPrice {
      SlidingInterval interval;
      double price;
    };
    TransferStage rows;
    std::vector<SlidingPrice> intervals;

    TransferStage stage_at(double makespan) const {
      TransferStage stage = rows;
      for (const SlidingPrice& priced : intervals)
        if (const std::optional<TypeInterval> interval_now = priced.interval.interval_at(makespan))
          stage.intervals.push_back({*interval_now, priced.price});
      return stage;
    }
  };

  TransferWindows start_windows(double makespan);
  void store_unrefuted(TransferWindows windows);
  bool is_refuted(TransferWindows& windows, RefuterDepth depth);
  bool prune(TransferWindows& windows) const {
    return proof::prune_with_clusters(windows, kSearchSlack, params_.uses_clusters);
  }

  bool tighten_by_load(TransferWindows& windows);
  bool refute_by_energy(const TransferWindows& windows);
  bool shave(TransferWindows& windows, int pass, RefuterDepth depth);
  StageOutcome apply_earlier_stages(TransferWindows& windows);
  StageOutcome apply_programme(TransferWindows& windows);
  StageOutcome apply_stage(TransferWindows& windows, TransferStage stage);
  std::optional<TransferStage> solve_programme(const TransferWindows& windows);
  void remember_stage(const TransferStage& stage, double makespan);
  std::vector<TypeInterval> violated_intervals(const TransferWindows& windows,
                                               const Table& share) const;

  const TypeCosts& costs_;
  double proven_bound_;
  TransferRefuterParams params_;
  double remaining_multiplications_;                   // of params_.lp_multiplications
  double remaining_shaving_steps_ = kInfinity;         // of shaving
  std::vector<std::vector<double>> mixtures_;          // of load heads
  std::vector<TransferStage> stages_;                  // of the proof for the T in question
  double lp_value_ = 0;                                // of its last linear programme
  std::vector<SlidingInterval> reused_intervals_;      // of the last programme
  std::vector<SlidingInterval> intervals_of_refuted_;  // of the last T that was refuted
  std::vector<EarlierStage> earlier_stages_;           // the latest last
  std::vector<TransferGuess> earlier_closed_;          // that shaving closed first at the last T
  // The windows of a T that was not refuted, and the stages that led to them.
  struct UnrefutedWindows {
    TransferWindows windows;
    std::vector<TransferStage> stages;
  };
  std::vector<UnrefutedWindows> unrefuted_;  // by falling T
  double useless_lp_above_ = kInfinity;      // makespans for which no programme is solved
};

}  // namespace cosched::dags::proof
