// TTB, the task-type-based algorithm of the paper, and its best makespan exactly.
#pragma once

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::rounding {

inline constexpr double kDefaultEps = 0.001;

/// TTB, the task-type-based algorithm (section III-D): for MS = LB (1 + eps)^t, t = 0, 1, ...,
/// ceil(log_{1+eps} UB/LB), the relaxation, Algorithm A, Algorithm B; the best profit rate.
/// LB = least_makespan(instance), UB = makespan of min_energy (least energy, where the paper has
/// least power, which can end in a loss where a profit exists).
///
/// with_tms: two more MS, as the end of section IV proposes: those of TMS's linear programme and of
/// its plan.  There the counts of TMS are feasible for the relaxation, integers that Algorithm A
/// leaves as they are, so they are one more candidate: never below tms(instance), which the
/// paper's grid alone can be.
///
/// Guarantee, for p >= c E_min and no idle power: profit rate >= optimum / (2 + 2 eps).  With idle
/// power the same holds for the profit rate + c I.  An MS whose relaxation earns no more than the
/// best plan so far is skipped, which keeps the guarantee.  One walk along the front serves every
/// MS.  O(log(UB/LB)/eps) roundings at most.  Requires 1e-6 <= eps <= 1 (else InvalidInstance).
BagPlan ttb(const Instance& instance, double eps, bool with_tms = true);

/// TTB with the best MS exactly, no grid: rounds at the vertices of the front, and between them
/// wherever the result of Algorithm A changes (x is linear in MS there), with the same rule for
/// skipping.  So it is the best of TTB over all MS, never below ttb at any eps.  Only where T M x
/// changes exceed 5e6 (18,500 changes at 30 x 9 types) do that many evenly spread MS stand for
/// them; never below ttb(kDefaultEps) then.
/// Guarantee: profit rate >= best_rate(instance, Cut::long_tasks).rate / 2 (>= optimum / 2) where
/// p >= c E_min and I = 0.
BagPlan ttb_exact(const Instance& instance);

}  // namespace cosched::bags::rounding
