// The optimum by whichever exact method fits the size.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

// Packs of two, exactly (section 4.1 of the paper).

/// An optimal co-schedule with at most two tasks a pack, by matching (Theorem 1 of the paper).
///
/// The paper's graph has a loop of weight l_i = the least time of task i alone, and edges of
/// weight e_ij = the least cost of i and j together; it asks for a perfect matching of least
/// weight.  The same matching maximises the savings l_i + l_j - e_ij over all matchings, with
/// unmatched tasks on their loops: that is what is solved, on n vertices instead of 2 n.
/// Throws InvalidInstance when the instance's max_tasks exceeds 2.  O(n^2 p + n^3 log n).
Coschedule pairs(const Instance& instance);

/// The optimum for any k.
///
/// Up to 16 tasks by the dynamic programme over subsets; beyond, branch and price from a short
/// local search (and again the subset programme where it leaves up to 20 tasks open).  When the
/// time limit (seconds) ends it first, the result is the best co-schedule so far, at worst that of
/// pack-by-pack, with the bound so far, and `proved` only if the two meet.  Under a limit the rounds
/// of local_search (seed 0) come first, each from what the rounds before it found; branch and price
/// has a tenth of the time after three of them, and most of it once a long one has found nothing
/// better.  So the result is never worse than that of local_search after the same rounds; in the
/// same time local_search has at most a part of its last round more.  Without a limit it runs until
/// it has the proof, except beyond 1,200 tasks: there it ends with column_bound().
/// Throws InvalidInstance where tasks share something: shared/optimal.hpp.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit = std::nullopt);

/// What optimal() does under a time limit, without a clock: the rounds of local_search (seed 0) have
/// `work` operations a task in all, and each turn of branch and price has `nodes` of its nodes.
/// Never costs more than local_search with the same work, whatever the turns of branch and price
/// return: the rounds start from what they found themselves.
ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes);

// The paper's integer programme (section 4.3).

/// The paper's integer programme (Theorem 4) through cosched::lp; n p + 1 columns for each of n
/// possible packs, so only for a handful of tasks.  Reads the times as measured.  `proved` and
/// `bound` are as exact as the LP solver; a time limit leaves the best co-schedule so far, at worst
/// the sequential one.  Throws SolverError when the solver fails or the programme has more than two
/// million columns.
ExactResult ilp(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::exact
