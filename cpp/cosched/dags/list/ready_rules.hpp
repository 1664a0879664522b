// Schedulers that choose among the ready tasks, those whose predecessors are placed.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// ETF, Earliest Task First (Hwang, Chow, Anger, Lee 1989): of all pairs of a ready task and a unit
/// that with the earliest start; equal: the task of highest level (longest path by mean times, no
/// transfers), then the earliest end, the lowest task.  No insertion.  No constant guarantee on
/// types of different speeds.  O((n log n + e) Q) and the renewals of the offers of tasks whose data
/// is still on its way, a log each.
Plan etf(const Instance& instance);

/// Min-min (Ibarra and Kim 1977): of all ready tasks that which can end first; equal: the lowest
/// task, the highest type.  No insertion, no guarantee.  As fast as etf().
Plan min_min(const Instance& instance);

/// est() (list_rules.hpp) where data costs time: the start counts it.
Plan est_with_transfers(const Instance& instance, const std::vector<int>& allocation);

}  // namespace cosched::dags::list
