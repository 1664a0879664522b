#include "cosched/packs/heuristic/best_cuts.hpp"

#include <algorithm>

#include "cosched/core/assert.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {

Packs best_cuts(const Instance& instance, const std::vector<int>& order) {
  COSCHED_ASSERT(static_cast<int>(order.size()) == instance.tasks());
  const int n = static_cast<int>(order.size());
  OnePackSolver solver(instance.times());
  std::vector<double> cost(n + 1, kInfinity);  // of the first j tasks
  std::vector<int> begin(n + 1, 0);            // of the last pack among them
  cost[0] = 0;
  for (int j = 1; j <= n; ++j) {
    for (int i = j - 1; i >= 0 && j - i <= instance.max_tasks(); --i) {
      const double last = solver.solve(order.data() + i, j - i, instance.procs());
      if (last == kInfinity) break;  // more tasks need more processors still
      if (cost[i] + last >= cost[j]) continue;
      cost[j] = cost[i] + last;
      begin[j] = i;
    }
    check_interrupt();
  }
  Packs packs;
  for (int j = n; j > 0; j = begin[j]) {
    packs.emplace_back(order.begin() + begin[j], order.begin() + j);
    std::sort(packs.back().begin(), packs.back().end());
  }
  std::reverse(packs.begin(), packs.end());
  return packs;
}

}  // namespace cosched::packs::heuristic
