#include "cosched/dags/search/order_moves.hpp"

#include <algorithm>

namespace cosched::dags::search {

void move_in_order(const TaskGraph& graph, const std::vector<int>& chain, std::vector<int>& order,
                   std::vector<int>& position, Rng& rng) {
  const int n = graph.tasks();
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  const bool chained = rng.uniform() < 0.5;
  const int task = chained ? chain[rng.below(chain.size())] : static_cast<int>(rng.below(n));
  int low = 0, high = n - 1;
  for (const int before : graph.predecessors(task)) low = std::max(low, position[before] + 1);
  for (const int after : graph.successors(task)) high = std::min(high, position[after] - 1);
  const int at = position[task];
  if (chained && low < at && rng.uniform() < 0.7) high = at - 1;
  if (high <= low && high == at) return;
  const int to = low + static_cast<int>(rng.below(high - low + 1));
  const auto first = order.begin();
  if (to < at)
    std::rotate(first + to, first + at, first + at + 1);
  else if (to > at)
    std::rotate(first + at, first + at + 1, first + to + 1);
}

}  // namespace cosched::dags::search
