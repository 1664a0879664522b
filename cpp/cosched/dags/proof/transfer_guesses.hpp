// Elimination by contradiction: a type of a task, or a way of an edge, that pruning alone refutes
// once it is the only one.
//
// Three tasks where this is not obvious, and no path or join shows it: a (4 s on a CPU, 1 s on a
// GPU) and b (4, 4) send data to c (5, 4), a's for 3 s and b's for 4 s, on one CPU and one GPU with
// a memory each. Can they end by T = 9 with a on the CPU?  Then c cannot be on the GPU, where it
// would start by 5 and a's data comes at 4 + 3.  On the CPU it would start by 4, when a ends, and
// b, which is either after a there (at 8) or sends its data from the GPU (4 + 4), is too late.  So
// the CPU is closed to a; every single way that this argument walks is open as long as a has
// another choice.
#pragma once

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

// Pruning that also looks at clusters: tasks that edges join of which only ways within one memory
// are open, so that all of them run in one memory, on c units of one type.
//
// On each type, sets of them between a head and a latest end have to fit on the c units;
// head_jr >= max over h of (h + sum over ancestors of j in the cluster of heads >= h of p_ir / c);
// and on one unit, of two that fit in one order only, the second waits.

/// windows.prune(slack), and where `clusters` (their costs then know paths) what those close and
/// raise, until nothing changes.  False: a task has no type left.  O(n^2 log n) a round of
/// clusters.
bool prune(TransferWindows& windows, double slack, bool clusters);

/// Where the search for them ends.
struct GuessEffort {
  double steps;  // about
  int patience;  // tries since the last one that failed
};

struct FailedGuesses {
  std::vector<TransferGuess> closed;  // in this order, with pruning after each
  bool refuted = false;               // nothing is left
};

/// Closes such types and ways, those that leave the least time first, one after the other: `first`
/// those that may fail, as they did at a shorter T, then all until none fails or about `effort`
/// steps are taken.  Changes `windows` by what it closes.
FailedGuesses close_failing_guesses(TransferWindows& windows, const GuessEffort& effort,
                                    bool clusters, const std::vector<TransferGuess>& first = {});

}  // namespace cosched::dags::proof
