// bags: the whole front against linear programmes solved one by one, TTB against the paper's way
// (a linear programme a makespan, tasks placed one by one), and 10^9 tasks against 10^4.  Fixed
// work, fixed seeds; processor time, best of five runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/glpk_programmes.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/ttb_best.hpp"
#include "support/bags_instances.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

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

Instance sized(int types, int machine_types) {
  Shape shape;
  shape.types = types;
  shape.machine_types = machine_types;
  shape.most_tasks = 1000;
  shape.most_machines = 40;
  return random_instance(shape, 1);
}

void bench_front() {
  std::puts(
      "the whole energy-makespan front against one linear programme by GLPK 5.0 "
      "(dual simplex, no presolve; 10 makespans)");
  for (const auto& [types, machine_types] : {std::pair{30, 9}, {100, 20}, {300, 30}, {1000, 10}}) {
    const Instance instance = sized(types, machine_types);
    std::vector<energy::FrontPoint> front;
    const double walk =
        seconds([&] { front = energy::energy_front(instance, energy::Cut::long_tasks); });
    double difference = 0;
    const double ten = seconds(
        [&] {
          for (int k = 0; k < 10; ++k) {
            const double makespan =
                front.front().makespan +
                (k + 0.5) / 10 * (front.back().makespan - front.front().makespan);
            const double solved = energy::solve_relaxation_by_glpk(instance, makespan).joules;
            difference =
                std::max(difference, std::abs(energy::joules_at(front, makespan) / solved - 1));
          }
        },
        types < 200 ? 5 : 1);
    std::printf(
        "  %4d x %2d  front of %4zu vertices %9.3f ms  a programme %9.3f ms  "
        "the front takes %6.3f programmes  difference %.0e\n",
        types, machine_types, front.size(), 1e3 * walk, 1e2 * ten, walk / (ten / 10), difference);
  }
}

// TTB as published: a linear programme for each MS, Algorithm A, LPT a task at a time.
double plain_ttb(const Instance& instance, double eps) {
  const double shortest = energy::least_makespan(instance) * (1 + 1e-9);
  const double cheapest_makespan = rounding::min_energy(instance).makespan;
  double best = -kInfinity;
  for (double makespan = shortest; makespan < cheapest_makespan * (1 + eps); makespan *= 1 + eps) {
    const Counts counts = rounding::round_by_matching(
        instance, energy::solve_relaxation_by_glpk(instance, makespan).x);
    double longest = 0;
    for (int j = 0; j < instance.machine_types(); ++j) {
      std::vector<double> loads(instance.machines(j), 0);
      for (const int i : rounding::order_by_longest(instance, j))
        for (std::int64_t n = 0; n < counts(i, j); ++n)
          *std::min_element(loads.begin(), loads.end()) += instance.etc(i, j);
      longest = std::max(longest, *std::max_element(loads.begin(), loads.end()));
    }
    best = std::max(best, instance.profit_rate(total_joules(instance, counts), longest));
  }
  return best;
}

void bench_ttb() {
  std::puts("TTB with eps = 0.02 against the paper's way; 30 x 9 types, 360 machines, gamma 1.2");
  for (const std::int64_t tasks : {12'000, 120'000}) {
    const Instance instance = figure_3_instance(tasks, 1.2, 1);
    double fast = 0, slow = 0;
    const double time = seconds([&] { fast = rounding::ttb(instance, 0.02).profit_rate; });
    const double plain = seconds([&] { slow = plain_ttb(instance, 0.02); }, 1);
    std::printf("  %7lld tasks  %8.3f ms  the paper's way %9.1f ms, %6.0fx; its rate is %+.3f%%\n",
                static_cast<long long>(tasks), 1e3 * time, 1e3 * plain, plain / time,
                100 * (slow / fast - 1));
  }
}

void bench_sizes() {
  std::puts("10^9 tasks against 10^4 (30 x 9 types, 360 machines, gamma 1.2)");
  const Instance small = figure_3_instance(9'990, 1.2, 1);
  const Instance large = figure_3_instance(999'999'990, 1.2, 1);
  const auto compare = [&](const char* name, auto solver) {
    const double a = seconds([&] { solver(small); }), b = seconds([&] { solver(large); });
    std::printf("  %-12s 10^4: %9.3f ms   10^9: %9.3f ms   ratio %.2f\n", name, 1e3 * a, 1e3 * b,
                b / a);
  };
  compare("front", [](const Instance& i) { energy::energy_front(i, energy::Cut::long_tasks); });
  compare("tms", [](const Instance& i) { rounding::tms(i); });
  compare("ttb", [](const Instance& i) { rounding::ttb(i, rounding::kDefaultEps); });
  compare("ttb-exact", [](const Instance& i) { rounding::ttb_exact(i); });
  compare("ttb-best", [](const Instance& i) { search::ttb_best(i); });
}

}  // namespace
}  // namespace cosched::bags

int main() {
  cosched::bags::bench_front();
  cosched::bags::bench_ttb();
  cosched::bags::bench_sizes();
}
