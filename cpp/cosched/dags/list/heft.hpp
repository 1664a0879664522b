// HEFT (Topcuoglu, Hariri, Wu 1999) for any number of resource types: HEFT and QHEFT of
// Amaris et al. 2017, Sections 3 and 6.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// Tasks by decreasing rank (equal: topological order), each to the unit where it ends
/// first, data counted, idle gaps between earlier tasks included.  Equal ends: the highest type
/// number, then the lowest unit number.  No constant guarantee: Theorem 1 there has a family at
/// ratio about (m + k)/k^2 (1 - e^-k).  O(n log n + e Q + n U log n) for U units, plus gaps
/// skipped.
Plan heft(const Instance& instance);

/// All tasks that can run on the type on its unit 0, the others on unit 0 of their fastest type:
/// what is left to do where data costs more than work.
Plan schedule_on_one_unit(const Instance& instance, int type);

/// HEFT with other ranks, which must fall along every edge, and, where `allocation`
/// is given, each task only on the units of its type.
Plan insertion_schedule(const Instance& instance, const std::vector<double>& rank,
                        const Allocation* allocation = nullptr);

}  // namespace cosched::dags::list
