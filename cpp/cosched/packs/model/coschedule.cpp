#include "cosched/packs/model/coschedule.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::packs {
namespace {

using std::to_string;

// Packs in the order in which they run: increasing cost, ties by number.
std::vector<int> running_order(const std::vector<double>& costs) {
  std::vector<int> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return costs[a] < costs[b]; });
  return order;
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

double sequential_cost(const Times& times) {
  double sum = 0;
  for (int i = 0; i < times.tasks(); ++i) sum += times.least(i);
  return sum;
}

// Mean end of the tasks run one after the other on all processors, shortest first.
double sequential_response_time(const Times& times) {
  const int n = times.tasks();
  std::vector<double> alone(n);
  for (int i = 0; i < n; ++i) alone[i] = times.least(i);
  std::sort(alone.begin(), alone.end());
  // Divided by n before summing: a sum of n ends could overflow where the mean does not.
  double end = 0, mean = 0;
  for (const double t : alone) {
    end += t;
    mean += end / n;
  }
  return mean;
}

}  // namespace

Packs members(const std::vector<int>& pack_of) {
  Packs packs;
  for (std::size_t i = 0; i < pack_of.size(); ++i) {
    if (pack_of[i] < 0 || static_cast<std::size_t>(pack_of[i]) >= pack_of.size())
      throw InvalidInstance("pack_of[" + to_string(i) + "] = " + to_string(pack_of[i]) +
                            ": expected a pack number in 0.." + to_string(pack_of.size() - 1));
    if (static_cast<std::size_t>(pack_of[i]) >= packs.size()) packs.resize(pack_of[i] + 1);
    packs[pack_of[i]].push_back(static_cast<int>(i));
  }
  for (std::size_t pack = 0; pack < packs.size(); ++pack)
    if (packs[pack].empty())
      throw InvalidInstance("pack_of: pack " + to_string(pack) + " of 0.." +
                            to_string(packs.size() - 1) + " has no task");
  return packs;
}

std::vector<double> pack_costs(const Times& times, const std::vector<int>& pack_of,
                               const std::vector<int>& procs) {
  const auto n = static_cast<std::size_t>(times.tasks());
  if (pack_of.size() != n || procs.size() != n)
    throw InvalidInstance("pack_of and procs have " + to_string(pack_of.size()) + " and " +
                          to_string(procs.size()) + " entries: expected " + to_string(n));
  const Packs packs = members(pack_of);
  std::vector<double> costs(packs.size(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (procs[i] < 1 || procs[i] > times.procs())
      throw InvalidInstance("procs[" + to_string(i) + "] = " + to_string(procs[i]) +
                            ": expected 1.." + to_string(times.procs()));
    const double t = times.given(static_cast<int>(i), procs[i]);
    if (t == kInfinity)
      throw InvalidInstance("procs[" + to_string(i) + "] = " + to_string(procs[i]) + ": task " +
                            to_string(i) + " cannot run on " + to_string(procs[i]) + " processors");
    costs[pack_of[i]] = std::max(costs[pack_of[i]], t);
  }
  return costs;
}

double cost(const Times& times, const std::vector<int>& pack_of, const std::vector<int>& procs) {
  const std::vector<double> costs = pack_costs(times, pack_of, procs);
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

Coschedule with_procs(const Times& times, const Packs& packs, const std::vector<int>& procs) {
  Coschedule result{std::vector<int>(times.tasks()), procs, 0};
  for (std::size_t pack = 0; pack < packs.size(); ++pack)
    for (const int i : packs[pack]) result.pack_of[i] = static_cast<int>(pack);
  result.cost = cost(times, result.pack_of, result.procs);
  return result;
}

void require_valid(const Instance& instance, const Coschedule& coschedule) {
  pack_costs(instance.times(), coschedule.pack_of, coschedule.procs);
  const Packs packs = members(coschedule.pack_of);
  for (std::size_t pack = 0; pack < packs.size(); ++pack) {
    long long used = 0;
    for (const int i : packs[pack]) used += coschedule.procs[i];
    if (static_cast<int>(packs[pack].size()) > instance.max_tasks() || used > instance.procs())
      throw InvalidInstance("pack " + to_string(pack) + " has " + to_string(packs[pack].size()) +
                            " tasks on " + to_string(used) + " processors: expected at most " +
                            to_string(instance.max_tasks()) + " on " + to_string(instance.procs()));
  }
}

double packing_ratio(const Times& times, const Coschedule& coschedule) {
  double work = 0;
  for (int i = 0; i < times.tasks(); ++i)
    work += coschedule.procs[i] * times.given(i, coschedule.procs[i]);
  return work / times.procs() / coschedule.cost;
}

double relative_cost(const Times& times, const Coschedule& coschedule) {
  return coschedule.cost / sequential_cost(times);
}

double relative_response_time(const Times& times, const Coschedule& coschedule) {
  const std::vector<double> start =
      pack_starts(pack_costs(times, coschedule.pack_of, coschedule.procs));
  double mean = 0;
  for (int i = 0; i < times.tasks(); ++i)
    mean += (start[coschedule.pack_of[i]] + times.given(i, coschedule.procs[i])) / times.tasks();
  return mean / sequential_response_time(times);
}

Schedule to_schedule(const Times& times, const Coschedule& coschedule) {
  const std::vector<double> start =
      pack_starts(pack_costs(times, coschedule.pack_of, coschedule.procs));
  Schedule schedule;
  std::vector<int> used(start.size(), 0);
  for (int i = 0; i < times.tasks(); ++i) {
    const int pack = coschedule.pack_of[i];
    std::vector<int> units(coschedule.procs[i]);
    std::iota(units.begin(), units.end(), used[pack]);
    used[pack] += coschedule.procs[i];
    schedule.place(i, 0, units, start[pack], start[pack] + times.given(i, coschedule.procs[i]));
  }
  return schedule;
}

}  // namespace cosched::packs
