// Lower bounds on the makespan that need no linear programme.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// The least maximal load over fractional allocations, paths ignored: at most LP*.
/// O(n log n) for two types.
double area_bound(const Instance& instance);

/// The longest path with every task on its fastest type: at most LP*.  O(n + e).
double critical_path_bound(const Instance& instance);

/// What data takes of limited memories: each edge's at least data x the longest path of least times
/// from the begin of its first task to the end of its second (n > 2,000: of the two tasks alone),
/// all of them together no more than all memories for the whole makespan; 0 where a memory is
/// unlimited.  O(n (n + e)).
double memory_bound(const Instance& instance);

// The loads alone: LP* without its paths.

/// max over q of the loads only: the area bound, and its weights.
struct AreaOptimum {
  double value = 0;
  std::vector<double> weights;  // Q, sum 1
  Table x;
};
AreaOptimum balance_loads(const Instance& instance);

}  // namespace cosched::dags::hlp
