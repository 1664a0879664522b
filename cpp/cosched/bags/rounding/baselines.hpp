// What TTB is measured against, and its two ends: least energy, least makespan.
#pragma once

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::rounding {

/// TMS, the baseline (Tarplee, Maciejewski, Siegel 2014): the linear programme in z = x/MS,
/// r = 1/MS (here: the best vertex of the front without the cut), rounding by the largest
/// fractional parts, LPT on each machine type.  No guarantee.  Where r = 0 is optimal
/// (p <= c E_min), the plan of least energy.
BagPlan tms(const Instance& instance);

/// Every task on the machine type of its least energy, LPT there.
BagPlan min_energy(const Instance& instance);

/// The relaxation at LB, rounded: makespan <= 2 x optimum, energy <= the least for LB.
BagPlan min_makespan(const Instance& instance);

}  // namespace cosched::bags::rounding
