#include "cosched/packs/model/coschedule.hpp"

#include "cosched/core/order.hpp"

namespace cosched::packs {
namespace {

using std::to_string;

void require_counts(const Times& times, const std::vector<int>& procs,
                    const std::vector<int>& tasks) {
  for (std::size_t k = 0; k < procs.size(); ++k) {
    if (procs[k] < 1 || procs[k] > times.procs())
      throw InvalidInstance("procs[" + to_string(k) + "] = " + to_string(procs[k]) +
                            ": expected 1.." + to_string(times.procs()));
    if (times.measured_time(tasks[k], procs[k]) == kInfinity)
      throw InvalidInstance("procs[" + to_string(k) + "] = " + to_string(procs[k]) + ": task " +
                            to_string(tasks[k]) + " cannot run on " + to_string(procs[k]) +
                            " processors");
  }
}

std::vector<RunningTask> runs_of(const Times& times, const std::vector<int>& tasks,
                                 const std::vector<int>& procs) {
  std::vector<RunningTask> runs;
  for (const int i : tasks) runs.push_back({i, procs[i], times.measured_time(i, procs[i])});
  return runs;
}

void require_fits(const Sharing& sharing, const std::vector<RunningTask>& pack) {
  for (int r = 0; r < sharing.resources(); ++r) {
    double sum = 0;
    for (const RunningTask& run : pack) sum += sharing.need(r, run.task, run.procs);
    if (leq(sum, sharing.capacity(r))) continue;
    throw InvalidInstance("the pack of task " + to_string(pack.front().task) + " needs " +
                          to_text(sum) + " of " + sharing.resource(r).name + ": expected at most " +
                          to_text(sharing.capacity(r)));
  }
}

}  // namespace

Packs packs_of(const std::vector<int>& pack_of) {
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

std::vector<double> pack_ends(const Instance& instance, const std::vector<int>& pack_of,
                              const std::vector<int>& procs) {
  const Times& times = instance.times();
  const auto n = static_cast<std::size_t>(times.tasks());
  if (pack_of.size() != n || procs.size() != n)
    throw InvalidInstance("pack_of and procs have " + to_string(pack_of.size()) + " and " +
                          to_string(procs.size()) + " entries: expected " + to_string(n));
  const Packs packs = packs_of(pack_of);
  std::vector<int> tasks(n);
  std::iota(tasks.begin(), tasks.end(), 0);
  require_counts(times, procs, tasks);
  std::vector<double> ends(n);
  for (int i = 0; i < times.tasks(); ++i) ends[i] = times.measured_time(i, procs[i]);
  if (instance.sharing() == nullptr) return ends;
  for (const std::vector<int>& pack : packs) {
    const std::vector<RunningTask> runs = runs_of(times, pack, procs);
    require_fits(*instance.sharing(), runs);
    const std::vector<double> slowed = instance.sharing()->ends(runs);
    for (std::size_t k = 0; k < pack.size(); ++k) ends[pack[k]] = slowed[k];
  }
  return ends;
}

std::vector<double> pack_costs(const Instance& instance, const std::vector<int>& pack_of,
                               const std::vector<int>& procs) {
  const std::vector<double> ends = pack_ends(instance, pack_of, procs);
  std::vector<double> costs;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (static_cast<std::size_t>(pack_of[i]) >= costs.size()) costs.resize(pack_of[i] + 1, 0);
    costs[pack_of[i]] = std::max(costs[pack_of[i]], ends[i]);
  }
  return costs;
}

double cost(const Instance& instance, const std::vector<int>& pack_of,
            const std::vector<int>& procs) {
  const std::vector<double> costs = pack_costs(instance, pack_of, procs);
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

double cost_if_constant(const Instance& instance, const std::vector<int>& pack_of,
                        const std::vector<int>& procs) {
  if (instance.sharing() == nullptr) return cost(instance, pack_of, procs);
  double sum = 0;
  for (const std::vector<int>& pack : packs_of(pack_of)) {
    const std::vector<RunningTask> runs = runs_of(instance.times(), pack, procs);
    const std::vector<double> factors = instance.sharing()->factors(runs);
    double longest = 0;
    for (std::size_t k = 0; k < runs.size(); ++k)
      longest = std::max(longest, runs[k].alone * factors[k]);
    sum += longest;
  }
  return sum;
}

std::vector<RunningTask> as_pack(const Instance& instance, const std::vector<int>& tasks,
                                 const std::vector<int>& procs) {
  if (tasks.size() != procs.size())
    throw InvalidInstance("tasks and procs have " + to_string(tasks.size()) + " and " +
                          to_string(procs.size()) + " entries: expected as many");
  std::vector<char> is_listed(instance.tasks(), 0);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    if (tasks[k] < 0 || tasks[k] >= instance.tasks() || is_listed[tasks[k]])
      throw InvalidInstance("tasks[" + to_string(k) + "] = " + to_string(tasks[k]) +
                            ": expected each of 0.." + to_string(instance.tasks() - 1) +
                            " once at most");
    is_listed[tasks[k]] = 1;
  }
  require_counts(instance.times(), procs, tasks);
  std::vector<RunningTask> runs;
  for (std::size_t k = 0; k < tasks.size(); ++k)
    runs.push_back({tasks[k], procs[k], instance.times().measured_time(tasks[k], procs[k])});
  return runs;
}

Coschedule with_procs(const Instance& instance, const Packs& packs, const std::vector<int>& procs) {
  Coschedule result{std::vector<int>(instance.tasks()), procs, 0};
  for (std::size_t pack = 0; pack < packs.size(); ++pack)
    for (const int i : packs[pack]) result.pack_of[i] = static_cast<int>(pack);
  result.cost = cost(instance, result.pack_of, result.procs);
  return result;
}

}  // namespace cosched::packs
