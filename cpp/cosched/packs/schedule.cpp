#include "cosched/packs/schedule.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/validate.hpp"

namespace cosched::packs {
namespace {

void require_counts(const Instance& instance, const std::vector<int>& pack_of,
                    const std::vector<int>& procs) {
  const int n = instance.tasks();
  if (static_cast<int>(pack_of.size()) != n || static_cast<int>(procs.size()) != n)
    throw InvalidInstance("pack_of and procs have lengths " + std::to_string(pack_of.size()) +
                          " and " + std::to_string(procs.size()) + ": expected " +
                          std::to_string(n));
  for (int i = 0; i < n; ++i) {
    if (pack_of[i] < 0 || pack_of[i] >= n)
      throw InvalidInstance("pack_of[" + std::to_string(i) + "] = " + std::to_string(pack_of[i]) +
                            ": expected 0.." + std::to_string(n - 1));
    if (procs[i] < 1 || procs[i] > instance.procs())
      throw InvalidInstance("procs[" + std::to_string(i) + "] = " + std::to_string(procs[i]) +
                            ": expected 1.." + std::to_string(instance.procs()));
  }
}

}  // namespace

Schedule to_schedule(const Instance& instance, const std::vector<int>& pack_of,
                     const std::vector<int>& procs) {
  require_counts(instance, pack_of, procs);
  const int n = instance.tasks();
  const int packs = *std::max_element(pack_of.begin(), pack_of.end()) + 1;
  std::vector<double> cost(packs, 0);
  for (int i = 0; i < n; ++i)
    cost[pack_of[i]] = std::max(cost[pack_of[i]], instance.times()(i, procs[i]));
  std::vector<int> order(packs);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cost[a] < cost[b]; });
  std::vector<double> start(packs);
  double now = 0;
  for (const int pack : order) {
    start[pack] = now;
    now += cost[pack];
  }
  Schedule schedule;
  std::vector<int> next_processor(packs, 0), units;
  for (int i = 0; i < n; ++i) {
    const int pack = pack_of[i];
    units.resize(procs[i]);
    std::iota(units.begin(), units.end(), next_processor[pack]);
    next_processor[pack] += procs[i];
    schedule.place(i, 0, units, start[pack], start[pack] + instance.times()(i, procs[i]));
  }
  return schedule;
}

void validate(const Instance& instance, const Schedule& schedule) {
  Requirements need;
  need.tasks = instance.tasks();
  need.units = {instance.procs()};
  need.duration = [&](int task, int, int count) {
    return count <= instance.procs() ? instance.times().row(task)[count - 1] : kInfinity;
  };
  cosched::validate(schedule, need);

  std::vector<int> order(schedule.rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return schedule.start[a] < schedule.start[b]; });
  double pack_start = 0, pack_end = 0;
  int in_pack = 0;
  for (const int r : order) {
    if (in_pack > 0 && close(schedule.start[r], pack_start, kValidateTolerance)) {
      ++in_pack;
    } else {
      if (in_pack > 0 && !leq(pack_end, schedule.start[r], kValidateTolerance))
        throw InvalidSchedule("task " + std::to_string(schedule.task[r]) + " starts at " +
                              to_text(schedule.start[r]) + " inside the pack that runs from " +
                              to_text(pack_start) + " to " + to_text(pack_end));
      pack_start = schedule.start[r];
      pack_end = 0;
      in_pack = 1;
    }
    pack_end = std::max(pack_end, schedule.end[r]);
    if (in_pack > instance.max_tasks())
      throw InvalidSchedule("the pack that starts at " + to_text(pack_start) + " has more than " +
                            std::to_string(instance.max_tasks()) + " tasks");
  }
}

}  // namespace cosched::packs
