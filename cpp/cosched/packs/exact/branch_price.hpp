// Branch and price: the exact method beyond a handful of tasks.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

/// Proves the optimum, or ends at the time limit (seconds) or after `most_nodes` with the best
/// co-schedule and bound so far.
///
/// A node is a relaxation (relaxation.hpp) with restrictions that its pricing keeps for free
/// (questions.hpp): the number of packs of length >= D is at most m, or at least m + 1; the pack
/// of task i has a length >= D, or < D.  Where no such question is open, every task has one length
/// and every length a whole number of packs: a search fills them (questions.hpp), or a task is
/// pinned to its length.  The node of the least bound comes first.
///
/// Requires a feasible `start`.
ExactResult branch_and_price(const Instance& instance, const Coschedule& start,
                             std::optional<double> time_limit = std::nullopt,
                             std::int64_t most_nodes = std::numeric_limits<std::int64_t>::max());

}  // namespace cosched::packs::exact
