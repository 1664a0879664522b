#include "cosched/dags/search/order_moves.hpp"

namespace cosched::dags::search {

std::vector<int> deciding_chain(const Instance& instance, const Allocation& allocation,
                                const std::vector<double>& start, const std::vector<double>& end) {
  std::vector<std::pair<double, int>> by_end;
  by_end.reserve(end.size());
  for (int task = 0; task < instance.tasks(); ++task) by_end.emplace_back(end[task], task);
  std::sort(by_end.begin(), by_end.end());
  std::vector<int> chain;
  int task = by_end.back().second;
  for (int steps = 0; task >= 0 && steps < instance.tasks(); ++steps) {
    chain.push_back(task);
    int next = -1;
    for (const int before : instance.graph().predecessors(task))
      if (end[before] == start[task]) next = before;
    if (next < 0)
      for (auto item = std::lower_bound(by_end.begin(), by_end.end(), std::pair(start[task], -1));
           item != by_end.end() && item->first == start[task]; ++item)
        if (allocation[item->second] == allocation[task] && item->second != task &&
            start[item->second] < start[task])
          next = item->second;
    task = next;
  }
  return chain;
}

void move_task_in_order(const TaskGraph& graph, const std::vector<int>& chain,
                        std::vector<int>& order, std::vector<int>& position, Rng& rng) {
  const int n = graph.tasks();
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  constexpr double kChainMoveShare = 0.5;    // moves of a task of the chain
  constexpr double kForwardMoveShare = 0.7;  // of these, those towards the front
  const bool is_chain_move = rng.uniform() < kChainMoveShare;
  const int task = is_chain_move ? chain[rng.below(chain.size())] : static_cast<int>(rng.below(n));
  int low = 0, high = n - 1;
  for (const int before : graph.predecessors(task)) low = std::max(low, position[before] + 1);
  for (const int after : graph.successors(task)) high = std::min(high, position[after] - 1);
  const int position_before = position[task];
  if (is_chain_move && low < position_before && rng.uniform() < kForwardMoveShare)
    high = position_before - 1;
  if (high <= low && high == position_before) return;
  const int position_after = low + static_cast<int>(rng.below(high - low + 1));
  const auto first = order.begin();
  if (position_after < position_before)
    std::rotate(first + position_after, first + position_before, first + position_before + 1);
  else if (position_after > position_before)
    std::rotate(first + position_before, first + position_before + 1, first + position_after + 1);
}

}  // namespace cosched::dags::search
