// HEFT (Topcuoglu, Hariri, Wu 1999) for any number of resource types: HEFT and QHEFT of
// Amaris et al. 2017, Sections 3 and 6.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::list {

/// Mean time over the units that can run each task: sum over finite p_{j,q} of m_q p_{j,q} / sum of
/// those m_q.
std::vector<double> mean_times(const Instance& instance);

/// rank(j) = mean time, plus the largest of (mean cost of the edge over ordered pairs of different
/// units + rank of the successor).
std::vector<double> heft_ranks(const Instance& instance);

/// Tasks by decreasing rank (equal: topological order), each to the unit where it ends
/// first, data counted, idle gaps between earlier tasks included.  Equal ends: the highest type
/// number, then the lowest unit number.  No constant guarantee: Theorem 1 there has a family at
/// ratio about (m + k)/k^2 (1 - e^-k).  O(n log n + e Q + n U log n) for U units, plus gaps
/// skipped.
Plan heft(const Instance& instance);

/// All tasks that can run on the type on its unit 0, the others on unit 0 of their fastest type:
/// what is left to do where data costs more than work.
Plan together(const Instance& instance, int type);

/// HEFT with other ranks, which must fall along every edge, and, where `allocation`
/// is given, each task only on the units of its type.
Plan insertion_schedule(const Instance& instance, const std::vector<double>& rank,
                        const Allocation* allocation = nullptr);

// CPOP (Topcuoglu, Hariri, Wu 1999): the critical path on one unit.

/// priority(j) = longest path through j, by mean times and mean costs of edges.  The critical path
/// follows the greatest priority from an entry to an exit (equal: the lowest task); its unit is
/// unit 0 of the type that runs most of its tasks, equal: in the least total time, then the highest
/// type.  Of the ready tasks the one of highest priority (equal: the lowest task) goes next: to
/// that unit if it is critical and can run there, else where it ends first; with insertion, ties as
/// in heft().  No guarantee.  O((n + e) (Q + log n) + n U log n).
Plan cpop(const Instance& instance);

// PEFT (Arabnejad and Barbosa 2014): earliest end, with a table of what comes after.

/// OCT(j, q): what the longest path after j still needs at best if j runs on type q,
///   max over successors s of min over types r that can run s of
///     OCT(s, r) + p_sr + (0 if r = q, else mean cost of the edge);  0 at an exit.
/// (Two tasks of a type can share a unit, so within a type nothing is paid.)  O(e Q^2).
Table optimistic_costs(const Instance& instance);

/// Of the ready tasks the one of greatest mean OCT over the units that can run it (equal: the
/// lowest task), to the type of least end + OCT, with insertion; ties as in heft().  No guarantee.
/// O(e Q^2 + n log n + n U log n).
Plan peft(const Instance& instance);

}  // namespace cosched::dags::list
