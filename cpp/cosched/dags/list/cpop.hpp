// CPOP (Topcuoglu, Hariri, Wu 1999): the critical path on one unit.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// priority(j) = longest path through j, by mean times and mean costs of edges.  The critical path
/// follows the greatest priority from an entry to an exit (equal: the lowest task); its unit is
/// unit 0 of the type that runs most of its tasks, equal: in the least total time, then the highest
/// type.  Of the ready tasks the one of highest priority (equal: the lowest task) goes next: to
/// that unit if it is critical and can run there, else where it ends first; with insertion, ties as
/// in heft().  No guarantee.  O((n + e) (Q + log n) + n U log n).
Plan cpop(const Instance& instance);

}  // namespace cosched::dags::list
