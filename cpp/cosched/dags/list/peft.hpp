// PEFT (Arabnejad and Barbosa 2014): earliest end, with a table of what comes after.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

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
