// Tries to prove that no schedule is as short as a makespan T.
//
// The steps, in this order, and from the first again after one that closes a type:
//   1. prune: longest paths of least times close the types on which a task does not fit
//      (time_windows.hpp);
//   2. load heads raise heads and tails, and prune again (load_heads.hpp);
//   3. an interval in which tasks without a choice of type need too much refutes T (energetic.hpp);
//   4. the linear programme of the open types (windows_lp.hpp): its prices make one row of all
//      rows, which refutes T or closes the types with which it cannot hold
//      (windows_combination.hpp).
// Each step that raises, closes or refutes something is a stage of the proof, except pruning, which
// the check repeats after every stage.
#pragma once

#include "cosched/dags/proof/makespan_guess.hpp"
#include "cosched/dags/proof/stage_outcome.hpp"
#include "cosched/dags/proof/windows_combination.hpp"
#include "cosched/dags/proof/windows_lp.hpp"

namespace cosched::dags::proof {

class WindowsRefuter {
 public:
  /// `relaxation`: a proof of LP*; its weights and flow are the first row of the programme.
  WindowsRefuter(const Instance& instance, const hlp::HlpCertificate& relaxation,
                 const RefuterParams& params);

  /// Tries to refute a guess; keeps rows with a price for the next one.
  RefutationResult<Refutation> refute(const MakespanGuess& question);

 private:
  bool is_refuted(TimeWindows& windows);
  bool tighten_by_load(TimeWindows& windows);
  bool refute_by_energy(const TimeWindows& windows);
  StageOutcome apply_programme(TimeWindows& windows);
  StageOutcome apply_stage(TimeWindows& windows, RefutationStage stage);

  const Instance& instance_;
  const hlp::HlpCertificate& relaxation_;
  RefuterParams params_;
  std::vector<std::vector<double>> mixtures_;  // of load heads
  std::vector<RefutationStage> stages_;        // of the proof for the T in question
  std::vector<ReusableRow> reusable_rows_;
};

}  // namespace cosched::dags::proof
