// Tries to prove that no schedule is as short as a makespan T: the search behind windows.hpp.
//
// In this order, and from the beginning again after whatever closes a pair:
//   1. prune: longest paths of least times close the types on which a task does not fit (time_windows.hpp);
//   2. load heads raise heads and tails, and prune again (load_heads.hpp);
//   3. an interval in which tasks without a choice need too much (energetic.hpp) refutes T;
//   4. the linear programme of what is open (windows_lp.hpp): its prices make one row of all rows, which
//      refutes T or closes the pairs with which it cannot hold (combination.hpp).
// What raised, closed or refuted something is a stage of the proof; pruning is not, the check does it
// after every stage anyway.
#pragma once

#include <optional>
#include <vector>

#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/outcome.hpp"
#include "cosched/dags/proof/time_windows.hpp"
#include "cosched/dags/proof/windows_lp.hpp"

namespace cosched::dags::proof {

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

}  // namespace cosched::dags::proof
