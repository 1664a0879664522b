// From shares to an allocation.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// Q = 2: CPU (type 0) iff x_j0 >= threshold, with tolerance 1e-9 (0.5 in Amaris et al. 2017,
/// Section 3); otherwise the type of largest x_jq, ties within 1e-9 to the one with the smaller
/// time.  A type that cannot run the task is never chosen.
Allocation round_allocation(const Table& times, const Table& x, double threshold = 0.5);

/// Each task on its cheapest type where a load costs its weight and every task has the same flow
/// (ties: the lowest type): the certificate's sum with what is known before the flow is.
Allocation cheapest_types(const Instance& instance, const std::vector<double>& weights,
                          double flow);

}  // namespace cosched::dags::hlp
