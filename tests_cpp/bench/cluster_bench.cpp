// Ratios of the cluster family: MCB8 against the plain algorithm, the max-stretch bound
// against its LP, and the simulator's cost a job.  Fixed work, fixed seeds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <set>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/bound/stretch_bound.hpp"
#include "cosched/cluster/dfrs/dfrs.hpp"
#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/cluster_instances.hpp"

namespace cosched::cluster {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Processor seconds a call, the least of three rounds: other work on the machine does not count.
template <class Work>
double seconds(int repetitions, const Work& work) {
  double best = kInfinity;
  for (int round = 0; round < (repetitions > 1 ? 3 : 1); ++round) {
    const double begin = processor_seconds();
    for (int k = 0; k < repetitions; ++k) work();
    best = std::min(best, (processor_seconds() - begin) / repetitions);
  }
  return best;
}

struct Items {
  std::vector<int> tasks;
  std::vector<double> cpu, memory;
};

// As in the paper's synthetic workloads: memory 10% for 55% of the jobs, else 20..100%,
// scaled so that the tasks fit.
Items random_items(Rng& rng, int jobs, int mean_tasks, double shrink) {
  Items items;
  for (int j = 0; j < jobs; ++j) {
    items.tasks.push_back(1 + static_cast<int>(rng.below(2 * mean_tasks)));
    items.cpu.push_back(items.tasks.back() == 1 ? 0.25 : 1);
    items.memory.push_back(
        shrink * (rng.uniform() < 0.55 ? 0.1 : 0.1 * static_cast<double>(rng.between(2, 10))));
  }
  return items;
}

std::optional<double> plain_search(const Items& items, int nodes) {
  const auto packs = [&](double yield) {
    std::vector<double> cpu = items.cpu;
    for (double& need : cpu) need *= yield;
    return !testing::plain_mcb8(items.tasks, cpu, items.memory, nodes).empty();
  };
  if (packs(1)) return 1;
  if (!packs(0)) return std::nullopt;
  double low = 0, high = 1;
  while (high - low > dfrs::kYieldAccuracy) {
    const double middle = (low + high) / 2;
    (packs(middle) ? low : high) = middle;
  }
  return low;
}

std::optional<double> fast_search(const Items& items, int nodes) {
  dfrs::Mcb8 mcb8(items.tasks, items.memory, nodes);
  return dfrs::find_best_target(mcb8, dfrs::yield_target(items.cpu), dfrs::kYieldAccuracy);
}

std::vector<dfrs::NodeList> fast_call(const Items& items, const std::vector<double>& cpu,
                                      int nodes) {
  dfrs::Mcb8 mcb8(items.tasks, items.memory, nodes);
  if (!mcb8.pack(cpu, dfrs::sort_by_decreasing_value(cpu))) return {};
  mcb8.save_packing();
  return mcb8.placement();
}

// At the yield that was found: a call from items to placements, and the packing alone, which
// is what a search repeats.
void bench_call(const Items& items, double yield, int nodes) {
  std::vector<double> cpu = items.cpu;
  for (double& need : cpu) need *= yield;
  std::vector<dfrs::NodeList> node_lists;
  std::vector<std::vector<int>> expected;
  const double fast = seconds(2000, [&] { node_lists = fast_call(items, cpu, nodes); });
  const double plain =
      seconds(50, [&] { expected = testing::plain_mcb8(items.tasks, cpu, items.memory, nodes); });
  dfrs::Mcb8 mcb8(items.tasks, items.memory, nodes);
  const std::vector<int> by_cpu = dfrs::sort_by_decreasing_value(cpu);
  const double pack = seconds(2000, [&] { mcb8.pack(cpu, by_cpu); });
  std::printf("       one call: fast %.3g s  plain %.3g s  ratio %.0f; packing alone %.3g s%s\n",
              fast, plain, plain / fast, pack,
              node_lists == std::vector<dfrs::NodeList>(expected.begin(), expected.end())
                  ? ""
                  : "  OTHER PLACEMENTS");
}

void bench_mcb8(int jobs, int mean_tasks, int nodes, double shrink, int repetitions, bool plain) {
  Rng rng(1);
  const Items items = random_items(rng, jobs, mean_tasks, shrink);
  int tasks = 0;
  for (const int count : items.tasks) tasks += count;
  std::optional<double> yield, expected;
  const double fast = seconds(repetitions, [&] { yield = fast_search(items, nodes); });
  std::printf("mcb8   %6d jobs %6d tasks %6d nodes: yield %.3f\n", jobs, tasks, nodes,
              yield.value_or(-1));
  std::printf("       whole search: fast %.3g s", fast);
  if (plain) {
    const double slow = seconds(5, [&] { expected = plain_search(items, nodes); });
    std::printf("  plain %.3g s  ratio %.0f%s", slow, slow / fast,
                yield == expected ? "" : "  OTHER YIELDS");
  }
  std::printf("\n");
  if (plain && yield) bench_call(items, *yield, nodes);
}

// Jobs of random width and heavy-tailed run times that load the machine to `load`.
Instance stream(int jobs, int nodes, double load, std::uint64_t seed) {
  Rng rng(seed);
  Jobs drawn_jobs;
  double work = 0, now = 0;
  std::vector<double> gap;
  for (int j = 0; j < jobs; ++j) {
    drawn_jobs.tasks.push_back(static_cast<int>(std::exp2(rng.uniform() * std::log2(nodes / 2.0))));
    drawn_jobs.runtime.push_back(std::ceil(std::exp(2 + 9 * rng.uniform())));
    drawn_jobs.cpu.push_back(drawn_jobs.tasks.back() == 1 ? 0.25 : 1);
    drawn_jobs.memory.push_back(
        rng.uniform() < 0.55 ? 0.1 : 0.1 * static_cast<double>(rng.between(2, 10)));
    gap.push_back(-std::log(1 - rng.uniform()));
    work += drawn_jobs.tasks.back() * drawn_jobs.runtime.back();
  }
  for (int j = 0; j < jobs; ++j) {
    now += gap[j] * work / (nodes * load * jobs);
    drawn_jobs.submit.push_back(std::floor(now));
  }
  return Instance(std::move(drawn_jobs), nodes);
}

// One feasibility test of the paper's linear system.
lp::Model stretch_lp(const Instance& instance, double stretch) {
  const Jobs& jobs = instance.jobs();
  std::set<double> points;
  std::vector<double> deadline;
  for (int j = 0; j < instance.size(); ++j) {
    deadline.push_back(jobs.submit[j] + stretch * std::max(jobs.runtime[j], kStretchThreshold));
    points.insert(jobs.submit[j]);
    points.insert(deadline[j]);
  }
  const std::vector<double> border(points.begin(), points.end());
  lp::Model model;
  for (int j = 0; j < instance.size(); ++j) model.add_row(jobs.runtime[j], jobs.runtime[j]);
  for (std::size_t t = 0; t + 1 < border.size(); ++t) {
    const double length = border[t + 1] - border[t];
    const int row = model.add_row(-kInfinity, instance.nodes() * length);
    for (int j = 0; j < instance.size(); ++j) {
      if (jobs.submit[j] > border[t] || deadline[j] < border[t + 1]) continue;
      const int column = model.add_column(0, 0, length);
      model.add_entry(j, column, 1);
      model.add_entry(row, column, jobs.cpu[j] * jobs.tasks[j]);
    }
  }
  return model;
}

void bench_bound(int jobs, double load, bool with_lp) {
  const Instance instance = stream(jobs, 128, load, 2);
  bound::StretchBound bound;
  const double fast = seconds(with_lp ? 5 : 2, [&] { bound = bound::max_stretch_bound(instance); });
  std::printf("bound  %6d jobs, load %.1f: S = %.6f in %d tests, %.3g s", jobs, load, bound.value,
              bound.tests, fast);
  if (with_lp) {
    const lp::Model model = stretch_lp(instance, bound.value * 1.001);
    const double slow = seconds(1, [&] { lp::solve_glpk(model); });
    std::printf("  one test as an LP (%d columns) by GLPK %.3g s: ratio %.0f (bisection: x 15)",
                model.columns(), slow, slow / fast);
  }
  std::printf("\n");
}

void bench_simulator() {
  const Instance instance = stream(200'000, 128, 0.7, 3);
  for (const bool backfill : {false, true}) {
    const double time =
        seconds(1, [&] { backfill ? batch::easy(instance) : batch::fcfs(instance); });
    std::printf("%s   %d jobs, 128 nodes: %.3g s, %.0f ns a job\n", backfill ? "easy" : "fcfs",
                instance.size(), time, 1e9 * time / instance.size());
  }
  const Instance week = stream(2'000, 128, 0.7, 4);
  for (const char* text :
       {"Greedy */opt=min", "GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600",
        "/stretch-per/opt=max/minvt=600", "GreedyPM */per/opt=avg/minvt=600"}) {
    SimulationOutcome outcome;
    const double time =
        seconds(1, [&] { outcome = dfrs::run_dfrs(week, *dfrs::parse_policy_name(text)); });
    std::printf("dfrs   %-36s %d jobs: %.3g s, %.1f us an event\n", text, week.size(), time,
                1e6 * time / static_cast<double>(outcome.events));
  }
}

}  // namespace
}  // namespace cosched::cluster

int main() {
  using namespace cosched::cluster;
  bench_mcb8(100, 16, 128, 0.15, 200, true);
  bench_mcb8(100, 4, 128, 0.5, 200, true);
  bench_mcb8(10'000, 4, 10'000, 0.5, 2, false);
  bench_bound(1'000, 0.9, true);
  bench_bound(10'000, 0.9, false);
  bench_simulator();
}
