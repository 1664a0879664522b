#include "cosched/packs/model/measures.hpp"

#include <numeric>

#include "cosched/core/order.hpp"

namespace cosched::packs {
namespace {

// Packs in the order in which they run: increasing cost, ties by number.
std::vector<int> running_order(const std::vector<double>& costs) {
  return sorted_numbers(costs.size(), [&](int a, int b) { return costs[a] < costs[b]; });
}

// Start of each pack when packs run in running_order.
std::vector<double> pack_starts(const std::vector<double>& costs) {
  std::vector<double> start(costs.size());
  double now = 0;
  for (const int pack : running_order(costs)) {
    start[pack] = now;
    now += costs[pack];
  }
  return start;
}

// The least time of each task over the counts on which its needs fit.
std::vector<double> least_times(const Instance& instance) {
  const Times& times = instance.times();
  const Sharing* sharing = instance.sharing();
  std::vector<double> least(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) {
    least[i] = times.least(i);
    if (sharing == nullptr || sharing->resources() == 0) continue;
    least[i] = kInfinity;
    for (int q = 1; q <= times.procs(); ++q)
      if (times.measured_time(i, q) < least[i] && sharing->fits_alone(i, q))
        least[i] = times.measured_time(i, q);
  }
  return least;
}

// Mean end of the tasks run one after the other on all processors, shortest first.
double sequential_response_time(const Instance& instance) {
  std::vector<double> least = least_times(instance);
  std::sort(least.begin(), least.end());
  // Divided by n before summing: a sum of n ends could overflow where the mean does not.
  double end = 0, mean = 0;
  for (const double t : least) {
    end += t;
    mean += end / instance.tasks();
  }
  return mean;
}

}  // namespace

double packing_ratio(const Instance& instance, const Coschedule& coschedule) {
  const Times& times = instance.times();
  double work = 0;
  for (int i = 0; i < times.tasks(); ++i)
    work += coschedule.procs[i] * times.measured_time(i, coschedule.procs[i]);
  return work / times.procs() / coschedule.cost;
}

double relative_cost(const Instance& instance, const Coschedule& coschedule) {
  const std::vector<double> least = least_times(instance);
  return coschedule.cost / std::accumulate(least.begin(), least.end(), 0.0);
}

double relative_response_time(const Instance& instance, const Coschedule& coschedule) {
  const std::vector<double> start =
      pack_starts(pack_costs(instance, coschedule.pack_of, coschedule.procs));
  const std::vector<double> ends = pack_ends(instance, coschedule.pack_of, coschedule.procs);
  double mean = 0;
  for (int i = 0; i < instance.tasks(); ++i)
    mean += (start[coschedule.pack_of[i]] + ends[i]) / instance.tasks();
  return mean / sequential_response_time(instance);
}

Schedule to_schedule(const Instance& instance, const Coschedule& coschedule) {
  const std::vector<double> start =
      pack_starts(pack_costs(instance, coschedule.pack_of, coschedule.procs));
  const std::vector<double> ends = pack_ends(instance, coschedule.pack_of, coschedule.procs);
  Schedule schedule;
  std::vector<int> used_units(start.size(), 0);
  for (int i = 0; i < instance.tasks(); ++i) {
    const int pack = coschedule.pack_of[i];
    std::vector<int> units(coschedule.procs[i]);
    std::iota(units.begin(), units.end(), used_units[pack]);
    used_units[pack] += coschedule.procs[i];
    schedule.place(i, 0, units, start[pack], start[pack] + ends[i]);
  }
  return schedule;
}

}  // namespace cosched::packs
