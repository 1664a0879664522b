// Where to cut an order of tasks into packs: a dynamic programme over the cuts.
#pragma once

#include <vector>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// The cheapest packs of tasks that are neighbours in `order`, at most k each.  Never costs more
/// than any packs that are made of `order` from its begin to its end.  Requires a permutation of
/// the tasks, unchecked.  O(n k p log k).
Packs best_cuts(const Instance& instance, const std::vector<int>& order);

}  // namespace cosched::packs::heuristic
