// Schedules for a given allocation: EST and OLS (Amaris, Lucarelli, Mommessin, Trystram
// 2017, Sections 3 and 4.1).
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// Earliest Starting Time: repeatedly the ready task with the earliest possible start
/// under its allocation, data counted; equal starts: the lowest task number.  After the rounding of
/// an HLP optimum: HLP-EST (Q = 2, 6-approximation) and QHLP-EST (Q(Q+1)-approximation), where data
/// moves for free.
/// Throws InvalidInstance on an allocation that a task cannot run on.  O((n + e) log n).
Plan est(const Instance& instance, const Allocation& allocation);

/// Ordered List Scheduling: Graham's list scheduling by decreasing
///   Rank(j) = p_{j,alloc(j)} + max over successors of (least cost of the edge between the types +
///   Rank);
/// whenever a unit is idle it gets the first *ready* task of its type in the list, one whose data
/// is there, equal ranks by task number.  Same guarantees as EST.  O((n + e) log n).
Plan ols(const Instance& instance, const Allocation& allocation);

/// Graham's list scheduling by decreasing `priority` (equal: lowest task number).
Plan list_schedule(const Instance& instance, const Allocation& allocation,
                   const std::vector<double>& priority);

}  // namespace cosched::dags::list
