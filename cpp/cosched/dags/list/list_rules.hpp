// Schedules for a given allocation: EST and OLS (Amaris, Lucarelli, Mommessin, Trystram
// 2017, Sections 3 and 4.1).
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::list {

// Graham's list scheduling where data costs time.

/// list_schedule() (list_rules.hpp) with transfers: no unit idles while the data of a task of its
/// type is there; among such tasks that of highest `priority` (equal: the lowest number) starts, on
/// the lowest unit that can take it.  O((n + e) log n + n U).
Plan list_with_transfers(const Instance& instance, const Allocation& allocation,
                         const std::vector<double>& priority);

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

// Schedulers that choose among the ready tasks, those whose predecessors are placed.

/// ETF, Earliest Task First (Hwang, Chow, Anger, Lee 1989): of all pairs of a ready task and a unit
/// that with the earliest start; equal: the task of highest level (longest path by mean times, no
/// transfers), then the earliest end, the lowest task.  No insertion.  No constant guarantee on
/// types of different speeds.  O(n log n + e Q) and the renewals of stale entries, a log each.
Plan etf(const Instance& instance);

/// Min-min (Ibarra and Kim 1977): of all ready tasks that which can end first; equal: the lowest
/// task, the highest type.  No insertion, no guarantee.  As fast as etf().
Plan min_min(const Instance& instance);

/// est() (list_rules.hpp) where data costs time: the start counts it.
Plan est_with_transfers(const Instance& instance, const std::vector<int>& allocation);

}  // namespace cosched::dags::list
