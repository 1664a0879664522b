// What a search over orders moves: tasks that decide the makespan, and where they may go.
#pragma once

#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::search {

/// Tasks that decide the makespan: a last task, a predecessor of it or another task of its type
/// that ends when it starts, and so on back to the first start.
std::vector<int> deciding_chain(const Instance& instance, const Allocation& allocation,
                                const std::vector<double>& start, const std::vector<double>& end);

/// Moves a random task to another place in the order, between its last predecessor and its first
/// successor; a task of `chain` mostly towards the front.  `position` is scratch memory for n
/// numbers. O(n).
void move_task_in_order(const TaskGraph& graph, const std::vector<int>& chain,
                        std::vector<int>& order, std::vector<int>& position, Rng& rng);

}  // namespace cosched::dags::search
