// The LP by two methods, and its certificates.
#include "cosched/dags/hlp/hlp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

// x, C and value satisfy the programme of the paper, from scratch.
void expect_feasible(const Instance& instance, const hlp::HlpSolution& solution) {
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
  for (const double type_load : load) EXPECT_LE(type_load, top);
}

void expect_exact(const Instance& instance, const hlp::HlpSolution& solution) {
  expect_feasible(instance, solution);
  const double bound = check::certified_bound(instance, solution.certificate);
  EXPECT_LE(bound, solution.value * (1 + 1e-9) + 1e-12);
  EXPECT_GE(bound, solution.value * (1 - 1e-9) - 1e-12);
}

TEST(Hlp, StructuredAndGlpkAgreeOnRandomGraphs) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(40));
    options.types = 1 + round % 4;
    options.density = rng.uniform() * rng.uniform();
    options.integers = round % 3 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const hlp::HlpSolution structured = hlp::hlp(instance);
    const hlp::HlpSolution reference = hlp::hlp(instance, hlp::HlpMethod::glpk);
    expect_exact(instance, structured);
    EXPECT_NEAR(structured.value, reference.value, 1e-7 * (1 + reference.value)) << round;
    EXPECT_NEAR(check::certified_bound(instance, reference.certificate), reference.value,
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
    SHOW_ON_FAILURE(instance);
    EXPECT_GT(instance.graph().edges(), 105'000);
    expect_exact(instance, hlp::hlp(instance));
  }
  const Instance wide = layered(rng, 2, 500, 0.5, {60, 20});
  SHOW_ON_FAILURE(wide);
  EXPECT_GT(wide.graph().edges(), 105'000);
  expect_exact(wide, hlp::hlp(wide));
}

// Machines at which neither the area nor the path alone decides.
TEST(Hlp, StructuredAndGlpkAgreeOnCholeskyAndForkJoin) {
  int with_flows = 0;
  for (const auto& units : {std::vector<int>{4, 1}, {8, 2}, {16, 2}, {16, 4}, {64, 4}}) {
    for (const double noise : {0.0, 0.2})
      for (const Instance& instance :
           {graphs::cholesky(8, units, noise, 3), graphs::fork_join(3, 40, units, 3)}) {
        const hlp::HlpSolution structured = hlp::hlp(instance);
        expect_exact(instance, structured);
        with_flows += structured.flows > 0;
        EXPECT_NEAR(structured.value, hlp::hlp(instance, hlp::HlpMethod::glpk).value,
                    1e-7 * structured.value);
      }
  }
  EXPECT_GE(with_flows, 3);
}

TEST(Hlp, SmallAndDegenerateInstances) {
  const Instance single_task = graphs::make({{3, 5}}, {}, {2, 2});
  EXPECT_NEAR(hlp::hlp(single_task).value, 3, 1e-12);
  const Instance nothing = graphs::make({{0, 0}, {0, kInfinity}}, {{0, 1}}, {1, 1});
  EXPECT_EQ(hlp::hlp(nothing).value, 0);
  const Instance gpu_only = graphs::make({{kInfinity, 2}, {kInfinity, 3}}, {}, {5, 1});
  EXPECT_NEAR(hlp::hlp(gpu_only).value, 5, 1e-12);
  expect_exact(gpu_only, hlp::hlp(gpu_only));
  const Instance single_type = graphs::make({{2}, {3}, {4}}, {{0, 2}}, {2});
  EXPECT_NEAR(hlp::hlp(single_type).value, 6, 1e-12);
  // One task spread over both types: 1/(1/2 + 1/3) under the loads, but the path needs more.
  const Instance chain = graphs::make({{2, 3}, {2, 3}, {2, 3}}, {{0, 1}, {1, 2}}, {1, 1});
  EXPECT_NEAR(hlp::hlp(chain).value, hlp::hlp(chain, hlp::HlpMethod::glpk).value, 1e-9);
}

TEST(Hlp, ScalesWithTheUnitOfTime) {
  Rng rng(12);
  graphs::RandomOptions options;
  options.tasks = 30;
  const Instance instance = graphs::random(rng, options);
  SHOW_ON_FAILURE(instance);
  const double value = hlp::hlp(instance).value;
  for (const double scale : {1e-9, 1e9}) {
    Table times = instance.times();
    for (double& time : times) time *= scale;
    const Instance scaled(times, instance.graph(), instance.units());
    SHOW_ON_FAILURE(scaled);
    EXPECT_NEAR(hlp::hlp(scaled).value, scale * value, 1e-9 * scale * value);
  }
}

TEST(Hlp, WhereTheFastestTypesAreOptimalTheyAreTheAnswer) {
  // A chain beside one short task: LP* = 3, and task 3 could be anywhere.
  const Instance instance =
      graphs::make({{1, 5}, {1, 5}, {1, 5}, {0.5, 0.4}}, {{0, 1}, {1, 2}}, {4, 4});
  const hlp::HlpSolution solution = hlp::hlp(instance);
  EXPECT_EQ(solution.value, 3);
  EXPECT_EQ(solution.x(3, 1), 1);
}

// x stays an allocation and the bound a bound, wherever the clock finds it.
TEST(HlpSoFar, IsValidWhereverItIsStopped) {
  const Instance instance = graphs::cholesky(12, {6, 2}, 0.3, 2);
  const double optimum = hlp::hlp(instance).value;
  bool complete = false;
  for (int micros = 0; micros < 300'000 && !complete; micros = micros * 3 / 2 + 100) {
    const ScopedTimeLimit limit(1e-6 * micros);
    const hlp::HlpSolution solution = hlp::hlp_so_far(instance);
    complete = solution.complete;
    EXPECT_TRUE(micros > 0 || !complete);
    EXPECT_LE(check::certified_bound(instance, solution.certificate), optimum * (1 + 1e-9));
    EXPECT_GE(solution.value, optimum * (1 - 1e-9));
    expect_feasible(instance, solution);
  }
}

TEST(Hlp, ThrowsAtATimeLimit) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const ScopedTimeLimit limit(0);
  EXPECT_THROW(hlp::hlp(instance), TimeLimit);
  EXPECT_THROW(hlp::hlp(instance, hlp::HlpMethod::glpk), TimeLimit);
}

}  // namespace
}  // namespace cosched::dags
