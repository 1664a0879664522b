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
  // At one start, tasks that end at once (their duration is rounded away compared with the start)
  // come first and leave their units to the others.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(start[a], end[a] > start[a]) < std::pair(start[b], end[b] > start[b]);
  });

  std::priority_queue<int, std::vector<int>, std::greater<>> idle;
  for (int unit = 0; unit < units; ++unit) idle.push(unit);
  using Release = std::pair<double, int>;  // (end, task)
  std::priority_queue<Release, std::vector<Release>, std::greater<>> releases;
  // A row for each task, in the order of their numbers.  All units are one array from the beginning:
  // there may be 10^7 of them.
  Schedule schedule;
  schedule.task.resize(n);
  std::iota(schedule.task.begin(), schedule.task.end(), 0);
  schedule.kind.assign(n, 0);
  schedule.start = start;
  schedule.end = end;
  for (const int task_units : count)
    schedule.unit_begin.push_back(schedule.unit_begin.back() + task_units);
  schedule.unit.resize(static_cast<std::size_t>(schedule.unit_begin.back()));

  const auto release_next = [&] {
    const int task = releases.top().second;
    for (std::int64_t k = schedule.unit_begin[task]; k < schedule.unit_begin[task + 1]; ++k)
      idle.push(schedule.unit[k]);
    releases.pop();
  };
  Poll poll;
  for (const int task : order) {
    poll.count(50 + 50 * count[task]);
    while (!releases.empty() && releases.top().first <= start[task]) release_next();
    // Units whose task ends a rounding error later are used only where no others are idle: 1e-9 of
    // a large time is long enough to be a real overlap.
    while (static_cast<int>(idle.size()) < count[task] && !releases.empty() &&
           leq(releases.top().first, start[task], kValidateTolerance))
      release_next();
    if (static_cast<int>(idle.size()) < count[task])
      throw InvalidSchedule("task " + std::to_string(task) + " needs " +
                            std::to_string(count[task]) + " units at " + to_text(start[task]) +
                            " s, " + std::to_string(idle.size()) + " are idle");
    for (std::int64_t k = schedule.unit_begin[task]; k < schedule.unit_begin[task + 1]; ++k) {
      schedule.unit[k] = idle.top();
      idle.pop();
    }
    releases.emplace(end[task], task);
  }
  return schedule;
}

}  // namespace cosched
