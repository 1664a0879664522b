// packs: the 1-pack algorithm, pack-by-pack and the subset programme against plain versions, the
// column bound, local search and `optimal` by their gaps.  Fixed work, fixed seeds; processor
// seconds, the least of several runs.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "support/packs_instances.hpp"
#include "support/packs_plain.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The least of several calls, each of `repeat` rounds where one is too short for the clock.
template <class Work>
double seconds(Work work, int runs = 5, int repeat = 1) {
  double fastest = kInfinity;
  for (int run = 0; run < runs; ++run) {
    const double begin = processor_seconds();
    for (int k = 0; k < repeat; ++k) work();
    fastest = std::min(fastest, (processor_seconds() - begin) / repeat);
  }
  return fastest;
}

double longest(const Times& times, const std::vector<int>& sigma) {
  double result = 0;
  for (std::size_t i = 0; i < sigma.size(); ++i)
    result = std::max(result, times(static_cast<int>(i), sigma[i]));
  return result;
}

void bench_one_pack(const char* name, const Times& times) {
  std::vector<int> tasks(times.tasks());
  std::iota(tasks.begin(), tasks.end(), 0);
  const int n = times.tasks(), p = times.procs();
  heuristic::OnePackSolver solver(times);
  double cost = 0;
  std::vector<int> by_queue, by_selection;
  const double replace = seconds([&] { cost = solver.solve(tasks.data(), n, p); }, 7);
  const double queue = seconds([&] { by_queue = one_pack_by_queue(times, tasks, p); }, 7);
  const double select = seconds([&] { by_selection = one_pack_by_selection(times, tasks, p); }, 7);
  const bool same = longest(times, by_queue) == cost && longest(times, by_selection) == cost;
  std::printf(
      "  %-18s heap that replaces its top %6.2f ms; with pop and push %6.2f ms = %4.1fx; "
      "selection %6.2f ms = %4.1fx; same cost: %s\n",
      name, 1e3 * replace, 1e3 * queue, queue / replace, 1e3 * select, select / replace,
      same ? "yes" : "NO");
}

void bench_one_packs() {
  std::puts("1-pack, n = 1,000, p = 100,000");
  constexpr int n = 1000, p = 100'000;
  Rng rng(1);
  Table table(n, p);
  for (int i = 0; i < n; ++i) {  // Amdahl's law
    const double alone = 1 + 99 * rng.uniform(), serial = 0.1 * rng.uniform();
    for (int q = 1; q <= p; ++q) table(i, q - 1) = alone * (serial + (1 - serial) / q);
  }
  bench_one_pack("Amdahl's law", Times(table));
  for (int i = 0; i < n; ++i) {
    const double alone = 1 + 99 * rng.uniform();
    for (int q = 1; q <= p; ++q) table(i, q - 1) = alone / q;
  }
  bench_one_pack("linear speed-up", Times(std::move(table)));
}

void bench_pack_by_pack() {
  std::puts("pack-by-pack-9 against the plain version");
  struct Case {
    int n, p, k;
  };
  for (const auto& [n, p, k] : {Case{65, 16, 16}, Case{260, 32, 32}, Case{2000, 256, 256}}) {
    const Instance instance(Times(speedup_workload(n, p, 1)), k);
    double cost = 0, plain_cost = 0;
    const double ours =
        seconds([&] { cost = heuristic::pack_by_pack(instance, heuristic::nine_epsilons()).cost; },
                5, n > 999 ? 1 : 20);
    const double plain =
        seconds([&] { plain_cost = plain_pack_by_pack(instance, heuristic::nine_epsilons()).cost; },
                n > 999 ? 1 : 3);
    std::printf("  n = %4d, p = %3d   %8.3f ms, plain %9.2f ms = %5.0fx; same cost: %s\n", n, p,
                1e3 * ours, 1e3 * plain, plain / ours, cost == plain_cost ? "yes" : "NO");
  }
}

// Means over the seeds; `work` of local search is its default.
void bench_bounds() {
  std::puts("column bound; pack-by-pack-9 and local search above it (means over 5 seeds)");
  struct Case {
    int n, p, k;
  };
  for (const auto& [n, p, k] :
       {Case{65, 16, 4}, Case{65, 16, 16}, Case{260, 32, 8}, Case{260, 32, 32}}) {
    constexpr int kSeeds = 5;
    double bound_time = 0, worst_time = 0, search_time = 0, paper = 0, search = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Instance instance(Times(speedup_workload(n, p, seed)), k);
      double bound = 0, cost = 0;
      const double time = seconds([&] { bound = columns::column_bound(instance).value; }, 2);
      bound_time += time / kSeeds;
      worst_time = std::max(worst_time, time);
      search_time +=
          seconds([&] { cost = search::local_search(instance, seed).coschedule.cost; }, 1) / kSeeds;
      search += 100 * (cost / bound - 1) / kSeeds;
      paper += 100 *
               (heuristic::pack_by_pack(instance, heuristic::nine_epsilons()).cost / bound - 1) /
               kSeeds;
    }
    std::printf(
        "  n = %3d, p = %2d, k = %2d: bound %.3f s (worst %.3f); pack-by-pack-9 %5.2f%%; "
        "local search %.2f%% in %.2f s\n",
        n, p, k, bound_time, worst_time, paper, search, search_time);
  }
}

void bench_subsets() {
  std::puts("dynamic programme over subsets, p = 16");
  for (const int n : {16, 20})
    for (const int k : {3, 4, 8, 16}) {
      const Instance instance(Times(speedup_workload(n, 16, 1)), k);
      std::printf("  n = %d, k = %2d: %.3f s\n", n, k,
                  seconds([&] { search::subset_programme(instance); }, 3));
    }
}

void bench_optimal() {
  std::puts("optimal, until proved (10 seeds)");
  struct Case {
    int n, p, k;
  };
  for (const auto& [n, p, k] :
       {Case{40, 16, 3}, Case{40, 16, 4}, Case{40, 16, 8}, Case{40, 16, 16}, Case{40, 32, 8}}) {
    std::vector<double> times;
    int proved = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Instance instance(Times(speedup_workload(n, p, seed)), k);
      times.push_back(seconds([&] { proved += exact::optimal(instance).is_proved; }, 1));
    }
    std::sort(times.begin(), times.end());
    std::printf("  n = %d, p = %d, k = %2d: %d of 10 proved; median %.2f s, longest %.2f s\n", n, p,
                k, proved, times[5], times.back());
  }
}

}  // namespace
}  // namespace cosched::packs

int main() {
  cosched::packs::bench_one_packs();
  cosched::packs::bench_pack_by_pack();
  cosched::packs::bench_bounds();
  cosched::packs::bench_subsets();
  cosched::packs::bench_optimal();
  return 0;
}
