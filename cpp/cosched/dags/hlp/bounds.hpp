// Lower bounds on the makespan that need no linear programme.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// The least maximal load over fractional allocations, paths ignored: at most LP*.
/// O(n log n) for two types.
double area_bound(const Instance& instance);

/// The longest path with every task on its fastest type: at most LP*.  O(n + e).
double critical_path_bound(const Instance& instance);

}  // namespace cosched::dags::hlp
