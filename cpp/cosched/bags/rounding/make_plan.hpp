// From counts on machine types to a plan: Algorithm B on each (local_assign.hpp).
#pragma once

#include "cosched/bags/model/plan.hpp"

namespace cosched::bags::rounding {

/// The plan of Algorithm B for these counts.  Throws InvalidInstance where counts do not fit: wrong
/// shape, negative, a closed pair, a row that does not sum to T_i.
/// O(sum_j (T log T + T M_j log M_j)).
Plan make_plan(const Instance& instance, const Counts& counts);

/// profit_rate of make_plan(instance, counts), without building it.  Counts are not checked.
double profit_rate_of(const Instance& instance, const Counts& counts);

}  // namespace cosched::bags::rounding
