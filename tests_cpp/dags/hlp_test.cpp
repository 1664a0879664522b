// The LP by two methods, its certificates, rounding, and everything against brute force.
#include "cosched/dags/hlp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/bounds.hpp"
#include "cosched/dags/heft.hpp"
#include "cosched/dags/hlp_best.hpp"
#include "cosched/dags/hlp_structured.hpp"
#include "cosched/dags/list_rules.hpp"
#include "cosched/dags/online.hpp"
#include "cosched/dags/trade_off.hpp"
#include "dags/brute_force.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags {
namespace {

// x, C and value satisfy the programme of the paper, from scratch.
void expect_feasible(const Instance& instance, const HlpSolution& solution) {
  const double top = solution.value * (1 + 1e-9) + 1e-12;
  std::vector<double> load(instance.types(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task) {
    double duration = 0, sum = 0;
    for (int type = 0; type < instance.types(); ++type) {
      const double share = solution.x(task, type);
      EXPECT_GE(share, 0);
      sum += share;
      if (!instance.can_run(task, type)) {
        EXPECT_EQ(share, 0);
        continue;
      }
      duration += share * instance.time(task, type);
      load[type] += share * instance.time(task, type) / instance.units(type);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    double start = 0;
    for (const int before : instance.graph().predecessors(task))
      start = std::max(start, solution.completion[before]);
    EXPECT_LE(start + duration, solution.completion[task] * (1 + 1e-9) + 1e-12);
    EXPECT_LE(solution.completion[task], top);
  }
  for (const double one : load) EXPECT_LE(one, top);
}

void expect_exact(const Instance& instance, const HlpSolution& solution) {
  expect_feasible(instance, solution);
  const double bound = certified_bound(instance, solution.certificate);
  EXPECT_LE(bound, solution.value * (1 + 1e-9) + 1e-12);
  EXPECT_GE(bound, solution.value * (1 - 1e-9) - 1e-12);
}

TEST(Hlp, StructuredAndGlpkAgreeOnRandomGraphs) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(40));
    options.types = 1 + round % 4;
    options.density = rng.uniform() * rng.uniform();
    options.integers = round % 3 == 0;
    const Instance instance = graphs::random(rng, options);
    const HlpSolution structured = hlp(instance);
    const HlpSolution reference = hlp(instance, HlpMethod::glpk);
    expect_exact(instance, structured);
    EXPECT_NEAR(structured.value, reference.value, 1e-7 * (1 + reference.value)) << round;
    EXPECT_NEAR(certified_bound(instance, reference.certificate), reference.value,
                1e-6 * (1 + reference.value));
  }
}

// Random layers; each pair of tasks in consecutive layers is an edge with probability `density`.
Instance layered(Rng& rng, int layers, int width, double density, std::vector<int> units) {
  const int tasks = layers * width, types = static_cast<int>(units.size());
  Table times(tasks, types);
  for (int task = 0; task < tasks; ++task) {
    times(task, 0) = 1 + 19 * rng.uniform();
    for (int type = 1; type < types; ++type)
      times(task, type) = times(task, 0) / (0.5 + 30 * rng.uniform());
  }
  std::vector<Edge> edges;
  for (int task = width; task < tasks; ++task)
    for (int k = 0; k < width; ++k)
      if (rng.uniform() < density) edges.emplace_back((task / width - 1) * width + k, task);
  return Instance(std::move(times), TaskGraph(tasks, edges), std::move(units));
}

// A slice says where to ask first: here some layers that are like the others, and one layer of two,
// which knows nothing of paths.  What is found is proved, whatever it says.
TEST(Hlp, ExactOnGraphsWithMoreThanAHundredThousandLinks) {
  Rng rng(5);
  for (const auto& units :
       {std::vector<int>{40, 4}, {40, 8}, {40, 12}, {60, 60}, {20, 4, 4}, {8, 2}}) {
    const Instance instance = layered(rng, 24, 110, 0.4, units);
    EXPECT_GT(instance.graph().edges(), 105'000);
    expect_exact(instance, hlp(instance));
  }
  const Instance wide = layered(rng, 2, 500, 0.5, {60, 20});
  EXPECT_GT(wide.graph().edges(), 105'000);
  expect_exact(wide, hlp(wide));
}

// Machines at which neither the area nor the path alone decides.
TEST(Hlp, StructuredAndGlpkAgreeOnCholeskyAndForkJoin) {
  int with_flows = 0;
  for (const auto& units : {std::vector<int>{4, 1}, {8, 2}, {16, 2}, {16, 4}, {64, 4}}) {
    for (const double noise : {0.0, 0.2})
      for (const Instance& instance :
           {graphs::cholesky(8, units, noise, 3), graphs::fork_join(3, 40, units, 3)}) {
        const HlpSolution structured = hlp(instance);
        expect_exact(instance, structured);
        with_flows += structured.flows > 0;
        EXPECT_NEAR(structured.value, hlp(instance, HlpMethod::glpk).value,
                    1e-7 * structured.value);
      }
  }
  EXPECT_GE(with_flows, 3);
}

TEST(Hlp, SmallAndDegenerateInstances) {
  const Instance one = graphs::make({{3, 5}}, {}, {2, 2});
  EXPECT_NEAR(hlp(one).value, 3, 1e-12);
  const Instance nothing = graphs::make({{0, 0}, {0, kInfinity}}, {{0, 1}}, {1, 1});
  EXPECT_EQ(hlp(nothing).value, 0);
  const Instance gpu_only = graphs::make({{kInfinity, 2}, {kInfinity, 3}}, {}, {5, 1});
  EXPECT_NEAR(hlp(gpu_only).value, 5, 1e-12);
  expect_exact(gpu_only, hlp(gpu_only));
  const Instance single_type = graphs::make({{2}, {3}, {4}}, {{0, 2}}, {2});
  EXPECT_NEAR(hlp(single_type).value, 6, 1e-12);
  // One task spread over both types: 1/(1/2 + 1/3) under the loads, but the path needs more.
  const Instance chain = graphs::make({{2, 3}, {2, 3}, {2, 3}}, {{0, 1}, {1, 2}}, {1, 1});
  EXPECT_NEAR(hlp(chain).value, hlp(chain, HlpMethod::glpk).value, 1e-9);
}

TEST(Hlp, ScalesWithTheUnitOfTime) {
  Rng rng(12);
  graphs::RandomOptions options;
  options.tasks = 30;
  const Instance instance = graphs::random(rng, options);
  const double value = hlp(instance).value;
  for (const double scale : {1e-9, 1e9}) {
    Table times = instance.times();
    for (double& time : times) time *= scale;
    const Instance scaled(times, instance.graph(), instance.units());
    EXPECT_NEAR(hlp(scaled).value, scale * value, 1e-9 * scale * value);
  }
}

TEST(Hlp, WhereTheFastestTypesAreOptimalTheyAreTheAnswer) {
  // A chain beside one short task: LP* = 3, and task 3 could be anywhere.
  const Instance instance =
      graphs::make({{1, 5}, {1, 5}, {1, 5}, {0.5, 0.4}}, {{0, 1}, {1, 2}}, {4, 4});
  const HlpSolution solution = hlp(instance);
  EXPECT_EQ(solution.value, 3);
  EXPECT_EQ(solution.x(3, 1), 1);
}

TEST(Certificate, BrokenOnesAreFound) {
  const Instance instance = graphs::cholesky(5, {4, 1}, 0.1, 1);
  const HlpSolution solution = hlp(instance);
  ASSERT_GT(solution.flows, 0);
  Certificate weights = solution.certificate;
  weights.weights[0] += 0.1;
  EXPECT_THROW(certified_bound(instance, weights), SolverError);
  Certificate flow = solution.certificate;
  for (double& amount : flow.task_flow) amount *= 1.5;
  EXPECT_THROW(certified_bound(instance, flow), SolverError);
  Certificate leak = solution.certificate;
  ASSERT_FALSE(leak.edge_flow.empty());
  leak.edge_flow.front().amount += 0.01;
  EXPECT_THROW(certified_bound(instance, leak), SolverError);
  Certificate edge = solution.certificate;
  edge.edge_flow.push_back({instance.tasks() - 1, 0, 0});
  EXPECT_THROW(certified_bound(instance, edge), SolverError);
}

TEST(Rounding, AsInThePaper) {
  Table times(4, 2), x(4, 2);
  times = {{5, 1}, {5, 1}, {5, kInfinity}, {kInfinity, 1}};
  x = {{0.5, 0.5}, {0.5 - 1e-6, 0.5 + 1e-6}, {0, 1}, {1, 0}};
  EXPECT_EQ(round_allocation(times, x), (Allocation{0, 1, 0, 1}));
  x(0, 0) -= 1e-10;  // within the tolerance of 1/2
  EXPECT_EQ(round_allocation(times, x)[0], 0);
  EXPECT_EQ(round_allocation(times, x, 0.6), (Allocation{1, 1, 0, 1}));
  Table times3(2, 3), x3(2, 3);
  times3 = {{3, 2, 1}, {3, 2, 1}};
  x3 = {{0.4, 0.4, 0.2}, {0.2, 0.4, 0.4}};
  EXPECT_EQ(round_allocation(times3, x3), (Allocation{1, 2}));
  EXPECT_THROW(round_allocation(times, x3), InvalidInstance);
  x(0, 0) = std::nan("");
  EXPECT_THROW(round_allocation(times, x), InvalidInstance);
}

TEST(TheoremTwo, HlpEstReachesSixTimesTheBoundForTheStatedOptimum) {
  for (const int m : {4, 5, 10, 20}) {
    const Instance instance = graphs::theorem2(m);
    const double value = m * (2 * m + 1) / (m - 1.0);
    EXPECT_NEAR(hlp(instance).value, value, 1e-9 * value);
    Table x(instance.tasks(), 2);
    for (int task = 0; task < instance.tasks(); ++task) {
      const double cpu = task == 0 ? 1 : task <= 2 * m + 1 ? 0.5 : 0.5 - 1e-6;
      x(task, 0) = cpu;
      x(task, 1) = 1 - cpu;
    }
    // The injected x is an LP optimum ...
    const auto loads = fractional_loads(instance, x);
    const auto ends = earliest_ends(instance.graph(), fractional_durations(instance, x));
    EXPECT_NEAR(std::max(*std::max_element(loads.begin(), loads.end()),
                         *std::max_element(ends.begin(), ends.end())),
                value, 1e-9 * value);
    // ... and any list makes 6 (2m - 1) of its rounding.
    const Allocation allocation = round_allocation(instance.times(), x);
    EXPECT_EQ(est(instance, allocation).makespan(), 6 * (2 * m - 1));
    EXPECT_EQ(ols(instance, allocation).makespan(), 6 * (2 * m - 1));
  }
}

TEST(BruteForce, NoScheduleBeatsTheOptimumAndTheLpIsBelow) {
  Rng rng(13);
  for (int round = 0; round < 60; ++round) {
    graphs::RandomOptions options;
    options.tasks = 2 + round % 5;
    options.types = 2 + round % 2;
    options.integers = round % 4 == 0;
    const Instance instance = graphs::random(rng, options);
    const double optimum = brute_force(instance);
    const HlpSolution solution = hlp(instance);
    EXPECT_LE(solution.value, optimum * (1 + 1e-9));
    const Allocation allocation = round_allocation(instance.times(), solution.x);
    const double guarantee = instance.types() * (instance.types() + 1) * solution.value;
    const Plan by_est = est(instance, allocation), by_ols = ols(instance, allocation);
    const Plan best = hlp_best(instance, {}, &solution).plan;
    for (const Plan& plan : {by_est, by_ols, best}) {
      EXPECT_LE(plan.makespan(), guarantee * (1 + 1e-9) + 1e-12);
      EXPECT_GE(plan.makespan(), optimum * (1 - 1e-12));
      EXPECT_NO_THROW(validate(plan.schedule(), instance.requirements()));
    }
    for (const Plan& plan : {heft(instance), eft(instance), greedy(instance), r1_ls(instance)})
      EXPECT_GE(plan.makespan(), optimum * (1 - 1e-12));
    EXPECT_LE(best.makespan(), by_ols.makespan());
    EXPECT_LE(best.makespan(), heft(instance).makespan());
  }
}

TEST(HlpBest, RepeatsWithItsSeed) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const HlpSolution solution = hlp(instance);
  BestOptions options;
  options.seed = 3;
  const BestResult first = hlp_best(instance, options, &solution);
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(first.plan.start, hlp_best(instance, options, &solution).plan.start);
  EXPECT_EQ(first.plan.start, hlp_best(instance, options).plan.start);
  EXPECT_NO_THROW(validate(first.plan.schedule(), instance.requirements()));
}

TEST(HlpBest, HasHeftAndHlpOlsBeforeItsTimeLimit) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const HlpSolution solution = hlp(instance);
  BestOptions options;
  options.time_limit = 0;
  const BestResult stopped = hlp_best(instance, options, &solution);
  EXPECT_FALSE(stopped.complete);
  const Plan by_ols = ols(instance, round_allocation(instance.times(), solution.x));
  EXPECT_EQ(stopped.plan.makespan(), std::min(heft(instance).makespan(), by_ols.makespan()));
  // A short LP is given the time it needs, so that HLP-OLS is among what it returns.
  const BestResult nothing = hlp_best(instance, options);
  EXPECT_FALSE(nothing.complete);
  EXPECT_TRUE(nothing.relaxation.complete);
  EXPECT_EQ(nothing.plan.makespan(), stopped.plan.makespan());
  EXPECT_NEAR(nothing.bound.value, solution.value, 1e-9 * solution.value);
}

TEST(CheapestTypes, GoesFromTheLoadsToTheFastest) {
  const Instance instance =
      graphs::make({{4, 1}, {3, 3}, {2, 5}, {kInfinity, 7}, {6, kInfinity}}, {}, {2, 1});
  const std::vector<double> weights{0.2, 0.8, 0};  // 0.1 a second on type 0, 0.8 on type 1
  EXPECT_EQ(cheapest_types(instance, weights, 0), (Allocation{0, 0, 0, 1, 0}));
  EXPECT_EQ(cheapest_types(instance, weights, 0.1), (Allocation{0, 0, 0, 1, 0}));
  EXPECT_EQ(cheapest_types(instance, weights, 0.3), (Allocation{1, 0, 0, 1, 0}));
  EXPECT_EQ(cheapest_types(instance, {0, 0, 1}, 1), (Allocation{1, 0, 0, 1, 0}));
}

TEST(HlpBest, EndsWhereItMeetsTheBound) {
  Rng rng(17);
  int met = 0;
  for (int round = 0; round < 300; ++round) {
    graphs::RandomOptions options;
    options.tasks = 2 + round % 6;
    options.types = 1 + round % 3;
    options.most_units = 2;
    options.integers = round % 2 == 0;
    const Instance instance = graphs::random(rng, options);
    const double optimum = brute_force(instance);
    const BestResult found = hlp_best(instance);
    EXPECT_TRUE(found.complete);
    EXPECT_NO_THROW(validate(found.plan.schedule(), instance.requirements()));
    EXPECT_GE(found.plan.makespan(), optimum * (1 - 1e-12));
    EXPECT_EQ(certified_bound(instance, found.bound.certificate), found.bound.value);
    if (!meets(found.plan.makespan(), found.bound.value)) continue;
    EXPECT_LE(found.plan.makespan(), optimum * (1 + 1e-9));
    ++met;
  }
  EXPECT_GE(met, 250);
}

// x stays an allocation and the bound a bound, wherever the clock finds it.
TEST(HlpSoFar, IsValidWhereverItIsStopped) {
  const Instance instance = graphs::cholesky(12, {6, 2}, 0.3, 2);
  const double optimum = hlp(instance).value;
  bool complete = false;
  for (int micros = 0; micros < 300'000 && !complete; micros = micros * 3 / 2 + 100) {
    const ScopedTimeLimit limit(1e-6 * micros);
    const HlpSolution found = hlp_so_far(instance);
    complete = found.complete;
    EXPECT_TRUE(micros > 0 || !complete);
    EXPECT_LE(certified_bound(instance, found.certificate), optimum * (1 + 1e-9));
    EXPECT_GE(found.value, optimum * (1 - 1e-9));
    expect_feasible(instance, found);
  }
}

TEST(Hlp, ThrowsAtATimeLimit) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const ScopedTimeLimit limit(0);
  EXPECT_THROW(hlp(instance), TimeLimit);
  EXPECT_THROW(hlp(instance, HlpMethod::glpk), TimeLimit);
}

TEST(Bounds, AreaAndCriticalPathAreBelowTheLp) {
  Rng rng(15);
  for (int round = 0; round < 100; ++round) {
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 3;
    const Instance instance = graphs::random(rng, options);
    const double value = hlp(instance).value * (1 + 1e-9);
    EXPECT_LE(area_bound(instance), value);
    EXPECT_LE(critical_path_bound(instance), value);
  }
}

TEST(BalanceLoads, MatchesTheLpWithoutEdges) {
  Rng rng(14);
  for (int round = 0; round < 100; ++round) {
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 2 + round % 3;
    options.density = 0;
    options.integers = round % 5 == 0;
    const Instance instance = graphs::random(rng, options);
    const AreaOptimum area = balance_loads(instance);
    double longest = 0, bound = 0;
    for (int task = 0; task < instance.tasks(); ++task) {
      longest = std::max(longest, instance.time(task, instance.fastest(task)));
      double least = kInfinity;
      for (int type = 0; type < instance.types(); ++type)
        if (instance.can_run(task, type))
          least = std::min(least,
                           instance.time(task, type) * area.weights[type] / instance.units(type));
      bound += least;
    }
    EXPECT_NEAR(bound, area.value, 1e-9 * area.value);  // its weights prove it
    EXPECT_GE(hlp(instance, HlpMethod::glpk).value, std::max(area.value, longest) * (1 - 1e-7));
  }
}

// The knapsack as one writes it with a sorted list: the same tasks move, one in part.
TEST(BalanceLoads, TwoTypesMoveByDecreasingAcceleration) {
  Rng rng(16);
  for (int round = 0; round < 200; ++round) {
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(400));
    options.density = 0;
    options.integers = round % 2 == 0;
    const Instance instance = graphs::random(rng, options);
    std::vector<std::pair<double, int>> order;
    std::vector<double> gpu_share(instance.tasks(), 0.0);
    double cpu = 0, gpu = 0;
    for (int task = 0; task < instance.tasks(); ++task) {
      const double p = instance.time(task, 0), g = instance.time(task, 1);
      if (p == kInfinity) {
        gpu += g / instance.units(1);
        gpu_share[task] = 1;
      } else {
        cpu += p / instance.units(0);
        if (p > 0 && g < kInfinity) order.emplace_back(-p / g, task);
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [ratio, task] : order) {
      if (gpu >= cpu) break;
      const double p = instance.time(task, 0) / instance.units(0);
      const double g = instance.time(task, 1) / instance.units(1);
      gpu_share[task] = std::min(1.0, (cpu - gpu) / (p + g));
      cpu -= gpu_share[task] * p;
      gpu += gpu_share[task] * g;
    }
    const AreaOptimum area = balance_loads(instance);
    EXPECT_NEAR(area.value, std::max(cpu, gpu), 1e-12 * (1 + area.value));
    for (int task = 0; task < instance.tasks(); ++task) {
      EXPECT_NEAR(area.x(task, 1), gpu_share[task], 1e-9) << round << " " << task;
      EXPECT_EQ(area.x(task, 0) + area.x(task, 1), 1);
    }
  }
}

}  // namespace
}  // namespace cosched::dags
