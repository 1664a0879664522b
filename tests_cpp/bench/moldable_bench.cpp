// moldable: DEMT against the paper's "less than 2 s", the minsum bound against GLPK, the knapsack
// against the plain dynamic programme.  Fixed work, fixed seeds;
// processor time, best of five runs.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "cosched/lp/glpk.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "cosched/opt/knapsack.hpp"
#include "support/moldable_instances.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

constexpr const char* kNames[] = {"weakly parallel", "highly parallel", "mixed", "Cirne-Berman"};

// Processor seconds of the best of some runs: other work on the machine does not count.
template <class Work>
double seconds(Work work, int runs = 5) {
  double best = kInfinity;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

void bench_demt() {
  std::puts("DEMT, n = 400, m = 200 (the paper: less than 2 s)");
  for (int kind = 0; kind < 4; ++kind) {
    const Instance instance = workload(static_cast<Kind>(kind), 400, 200, 1);
    const double time = seconds([&] { batches::demt(instance); }, 20);
    std::printf("  %-16s %8.2f ms   %6.0fx below 2 s\n", kNames[kind], 1e3 * time, 2 / time);
  }
  const Instance large = workload(Kind::cirne, 100'000, 10'000, 1);
  const double dual = seconds([&] { dual::dual_approximation(large); }, 1);
  const double time = seconds([&] { batches::demt(large); }, 1);
  std::printf("  n = 100,000, m = 10,000 (formulas): dual approximation %.2f s, DEMT %.2f s\n",
              dual, time);
}

void bench_minsum() {
  std::puts("minsum bound, n = 400, m = 200, the paper's grid: structured against GLPK 5.0");
  for (int kind = 0; kind < 4; ++kind) {
    const Instance instance = workload(static_cast<Kind>(kind), 400, 200, 1);
    minsum::MinsumOptions options;
    options.grid = minsum::make_default_grid(instance);
    const minsum::IntervalModel model = minsum::make_model(instance, options);
    double value = 0, glpk_value = 0;
    const double structured = seconds([&] { value = minsum::solve(model).value; }, 50);
    const double bound_time = seconds([&] { minsum::bound(instance, options); }, 50);
    lp::GlpkOptions primal;
    primal.method = lp::GlpkOptions::Method::primal;
    primal.presolve = false;
    const minsum::ScaledLp reference = minsum::to_lp(model);
    const double glpk = seconds(
        [&] { glpk_value = reference.unit * lp::solve_glpk(reference.model, primal).objective; });
    const double dual = seconds([&] { lp::solve_glpk(reference.model); });
    options.refine = 8;
    const double fine_time = seconds([&] { minsum::bound(instance, options); });
    std::printf(
        "  %-16s %2d intervals: %6.2f ms, GLPK default %7.1f ms = %4.0fx, dual with presolve %7.1f "
        "ms = %4.0fx; difference %.0e\n",
        kNames[kind], model.columns(), 1e3 * structured, 1e3 * glpk, glpk / structured, 1e3 * dual,
        dual / structured, std::abs(value / glpk_value - 1));
    std::printf(
        "  %-16s with the model %.2f ms = %.0fx; 8 times finer grid %.1f ms, %.1f%% higher\n", "",
        1e3 * bound_time, glpk / bound_time, 1e3 * fine_time,
        100 * (minsum::bound(instance, options) / value - 1));
  }
}

void bench_best() {
  std::puts("demt-best against DEMT, n = 400, m = 200: mean ratios to the bounds over 5 instances");
  for (int kind = 0; kind < 4; ++kind) {
    double makespan_bound = 0, minsum = 0, time = 0;
    Criteria demt_sum, best_sum;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Instance instance = workload(static_cast<Kind>(kind), 400, 200, seed);
      makespan_bound += dual::dual_approximation_bound(instance, 0.01);
      minsum += minsum::bound(instance, {std::nullopt, 8, true});
      const Criteria base = evaluate_criteria(instance, batches::demt(instance));
      Criteria best;
      time += seconds(
          [&] {
            const search::DemtBestResult result = search::demt_best(instance);
            best = result.front.points()[result.chosen_point].value;
          },
          1);
      demt_sum.makespan += base.makespan;
      demt_sum.minsum += base.minsum;
      best_sum.makespan += best.makespan;
      best_sum.minsum += best.minsum;
    }
    std::printf("  %-16s makespan %.3f -> %.3f, minsum %.3f -> %.3f, %.2f s each\n", kNames[kind],
                demt_sum.makespan / makespan_bound, best_sum.makespan / makespan_bound,
                demt_sum.minsum / minsum, best_sum.minsum / minsum, time / 5);
  }
}

void bench_knapsack() {
  std::puts("knapsack, 2,000 items, capacity 10,000: milliseconds");
  for (const bool correlated : {false, true}) {
    Rng rng(1);
    std::vector<double> profit;
    std::vector<int> size;
    for (int k = 0; k < 2000; ++k) {
      size.push_back(static_cast<int>(rng.between(1, 1000)));
      profit.push_back(correlated ? size.back() + 100 * rng.uniform() : rng.uniform());
    }
    const double fast = seconds([&] { opt::knapsack(profit, size, 10'000); });
    std::printf("  %-16s %8.3f ms\n", correlated ? "correlated" : "uncorrelated", 1e3 * fast);
  }
}

}  // namespace
}  // namespace cosched::moldable

int main() {
  cosched::moldable::bench_demt();
  cosched::moldable::bench_minsum();
  cosched::moldable::bench_best();
  cosched::moldable::bench_knapsack();
  return 0;
}
