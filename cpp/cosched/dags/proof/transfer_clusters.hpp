// Pruning by clusters.  Two tasks belong to one cluster where only placements in one memory are
// open for an edge between them; then all tasks of the cluster run in one memory, on c units of one
// type.
//
// For each type, the tasks between a head and a latest end must fit on the c units;
// head_jr >= max over h of (h + sum over ancestors of j in the cluster of heads >= h of p_ir / c);
// and on one unit, of two tasks that fit in one order only, the second starts after the first.
#pragma once

#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

/// Repeats windows.prune(tolerance) and, if `uses_clusters`, tightening by clusters, until nothing
/// changes.  Returns false where a task has no type left.  Requires costs with paths if
/// `uses_clusters`.  O(n^2 log n) for a round of clusters.
bool prune_with_clusters(TransferWindows& windows, double tolerance, bool uses_clusters);

}  // namespace cosched::dags::proof
