// Shaving (Carlier and Pinson 1990; Martin and Shmoys 1996): closes a type of a task, or a
// placement of an edge, where pruning alone refutes T once it is the only open one.
//
// Three tasks where this is not obvious, and no path or join shows it: a (4 s on a CPU, 1 s on a
// GPU) and b (4, 4) send data to c (5, 4), a's for 3 s and b's for 4 s, on one CPU and one GPU with
// a memory each. Can they end by T = 9 with a on the CPU?  Then c cannot be on the GPU, where it
// would start by 5 and a's data comes at 4 + 3.  On the CPU it would start by 4, when a ends, and
// b, which is either after a there (at 8) or sends its data from the GPU (4 + 4), is too late.  So
// the CPU is closed to a; every single placement of this argument is open as long as a has another
// choice.
#pragma once

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/transfer_clusters.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

/// Where shaving ends.
struct ShavingBudget {
  double max_steps;       ///< about; of about a nanosecond
  int max_tries_in_vain;  ///< tries since the last one that has closed something
};

struct ShavingResult {
  std::vector<TransferGuess> closed_choices;  ///< in the order of time; pruning follows each
  bool is_refuted = false;                    ///< a task has no type left
};

/// Closes types and placements in `windows` by shaving, one after the other: first
/// `likely_choices`, which were closed at a shorter T, then all, those of least slack first, until
/// none can be closed or the budget is used up.
ShavingResult shave(TransferWindows& windows, const ShavingBudget& budget, bool uses_clusters,
                    const std::vector<TransferGuess>& likely_choices = {});

}  // namespace cosched::dags::proof
