#include "cosched/core/schedule.hpp"

#include <functional>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {

Schedule assign_units(const std::vector<double>& start, const std::vector<double>& end,
                      const std::vector<int>& count, int units) {
  const int n = static_cast<int>(start.size());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  // Tasks so short beside their start that it swallows them leave their units to those that stay.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(start[a], end[a] > start[a]) < std::pair(start[b], end[b] > start[b]);
  });

  std::priority_queue<int, std::vector<int>, std::greater<>> idle;
  for (int unit = 0; unit < units; ++unit) idle.push(unit);
  using Release = std::pair<double, int>;  // (end, task)
  std::priority_queue<Release, std::vector<Release>, std::greater<>> running;
  std::vector<std::vector<int>> held(n);

  const auto free_next = [&] {
    for (const int unit : held[running.top().second]) idle.push(unit);
    running.pop();
  };
  Poll poll;
  for (const int task : order) {
    poll.count(50 + 50 * count[task]);
    while (!running.empty() && running.top().first <= start[task]) free_next();
    // Units whose task ends a rounding error later are taken only where no others are left:
    // 1e-9 of a large time is long enough to be a real overlap.
    while (static_cast<int>(idle.size()) < count[task] && !running.empty() &&
           leq(running.top().first, start[task], kValidateTolerance))
      free_next();
    if (static_cast<int>(idle.size()) < count[task])
      throw InvalidSchedule("task " + std::to_string(task) + " needs " +
                            std::to_string(count[task]) + " units at " + to_text(start[task]) +
                            " s, " + std::to_string(idle.size()) + " are idle");
    for (int k = 0; k < count[task]; ++k) {
      held[task].push_back(idle.top());
      idle.pop();
    }
    running.emplace(end[task], task);
  }
  Schedule schedule;
  for (int task = 0; task < n; ++task) schedule.place(task, 0, held[task], start[task], end[task]);
  return schedule;
}

}  // namespace cosched
