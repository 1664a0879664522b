// Pruning that also looks at clusters: tasks that edges join of which only ways within one memory are
// open, so that all of them run in one memory, on c units of one type.
//
// On each type, sets of them between a head and a latest end have to fit on the c units;
// head_jr >= max over h of (h + sum over ancestors of j in the cluster of heads >= h of p_ir / c); and on
// one unit, of two that fit in one order only, the second waits.
#pragma once

#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

/// windows.prune(slack), and where `clusters` (their costs then know paths) what those close and raise,
/// until nothing changes.  False: a task has no type left.  O(n^2 log n) a round of clusters.
bool prune(TransferWindows& windows, double slack, bool clusters);

}  // namespace cosched::dags::proof
