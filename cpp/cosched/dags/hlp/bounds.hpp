// Lower bounds on the makespan that need no linear programme.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// The longest path with every task on its fastest type: at most LP*.  O(n + e).
double critical_path_bound(const Instance& instance);

/// A bound by limited memories.  The data of an edge is in memory at least for the longest path of
/// least times from the start of its first task to the end of its second (for n > 2,000: for the
/// least times of these two tasks).  All edges together need no more byte-seconds than all memories
/// have during the makespan.  0 where a memory is unlimited.  O(n (n + e)).
double memory_bound(const Instance& instance);

}  // namespace cosched::dags::hlp
