// Moves of searches over orders.
#pragma once

#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/core/task_graph.hpp"

namespace cosched::dags::search {

/// A task goes to another place between its last predecessor and its first successor: one of the
/// `chain` mostly forward, any other anywhere.  `position` is room for n numbers.  O(n).
void move_in_order(const TaskGraph& graph, const std::vector<int>& chain, std::vector<int>& order,
                   std::vector<int>& position, Rng& rng);

}  // namespace cosched::dags::search
