// Packs of two, exactly (section 4.1 of the paper).
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

/// An optimal co-schedule with at most two tasks a pack, by matching (Theorem 1 of the paper).
///
/// The paper's graph has a loop of weight l_i = the least time of task i alone, and edges of
/// weight e_ij = the least cost of i and j together; it asks for a perfect matching of least
/// weight.  The same matching maximises the savings l_i + l_j - e_ij over all matchings, with
/// unmatched tasks on their loops: that is what is solved, on n vertices instead of 2 n.
/// Throws InvalidInstance when the instance's max_tasks exceeds 2.  O(n^2 p + n^3 log n).
Coschedule pairs(const Instance& instance);

}  // namespace cosched::packs::exact
