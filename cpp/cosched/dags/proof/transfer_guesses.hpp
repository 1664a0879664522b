// Elimination by contradiction: a type of a task, or a way of an edge, that pruning alone refutes once it
// is the only one.
#pragma once

#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

struct FailedGuesses {
  std::vector<TransferGuess> closed;  // in this order, with pruning after each
  bool refuted = false;               // nothing is left
};

/// Closes such types and ways, one after the other, until none fails or about `effort` steps are taken.
/// Changes `windows` by what it closes.
FailedGuesses close_failing_guesses(TransferWindows& windows, double effort, bool clusters);

}  // namespace cosched::dags::proof
