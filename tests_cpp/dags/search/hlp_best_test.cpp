// HLP-BEST and what it begins with: guarantees, brute force, limits.
#include "cosched/dags/search/hlp_best.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/slice_model.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "dags/brute_force.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(TheoremTwo, HlpEstReachesSixTimesTheBoundForTheStatedOptimum) {
  for (const int m : {4, 5, 10, 20}) {
    const Instance instance = graphs::theorem2(m);
    const double value = m * (2 * m + 1) / (m - 1.0);
    EXPECT_NEAR(hlp::hlp(instance).value, value, 1e-9 * value);
    Table x(instance.tasks(), 2);
    for (int task = 0; task < instance.tasks(); ++task) {
      const double cpu = task == 0 ? 1 : task <= 2 * m + 1 ? 0.5 : 0.5 - 1e-6;
      x(task, 0) = cpu;
      x(task, 1) = 1 - cpu;
    }
    // The injected x is an LP optimum ...
    const auto loads = hlp::fractional_loads(instance, x);
    const auto ends =
        compute_earliest_ends(instance.graph(), hlp::fractional_durations(instance, x));
    EXPECT_NEAR(std::max(*std::max_element(loads.begin(), loads.end()),
                         *std::max_element(ends.begin(), ends.end())),
                value, 1e-9 * value);
    // ... and any list makes 6 (2m - 1) of its rounding.
    const Allocation allocation = hlp::round_allocation(instance.times(), x);
    EXPECT_EQ(list::est(instance, allocation).makespan(), 6 * (2 * m - 1));
    EXPECT_EQ(list::ols(instance, allocation).makespan(), 6 * (2 * m - 1));
  }
}

TEST(BruteForce, NoScheduleBeatsTheOptimumAndTheLpIsBelow) {
  Rng rng(13);
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 2 + round % 5;
    options.types = 2 + round % 2;
    options.integers = round % 4 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force(instance);
    const hlp::HlpSolution solution = hlp::hlp(instance);
    EXPECT_LE(solution.value, optimum * (1 + 1e-9));
    const Allocation allocation = hlp::round_allocation(instance.times(), solution.x);
    const double guarantee = instance.types() * (instance.types() + 1) * solution.value;
    const Plan by_est = list::est(instance, allocation), by_ols = list::ols(instance, allocation);
    const Plan best = search::hlp_best(instance, {}, &solution).plan;
    for (const Plan& plan : {by_est, by_ols, best}) {
      EXPECT_LE(plan.makespan(), guarantee * (1 + 1e-9) + 1e-12);
      EXPECT_GE(plan.makespan(), optimum * (1 - 1e-12));
      EXPECT_NO_THROW(validate(plan.schedule(), check::requirements(instance)));
    }
    for (const Plan& plan :
         {list::heft(instance), list::eft(instance), list::greedy(instance), list::r1_ls(instance)})
      EXPECT_GE(plan.makespan(), optimum * (1 - 1e-12));
    EXPECT_LE(best.makespan(), by_ols.makespan());
    EXPECT_LE(best.makespan(), list::heft(instance).makespan());
  }
}

TEST(HlpBest, RepeatsWithItsSeed) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const hlp::HlpSolution solution = hlp::hlp(instance);
  search::HlpBestOptions options;
  options.seed = 3;
  const search::HlpBestResult first = search::hlp_best(instance, options, &solution);
  EXPECT_TRUE(first.is_complete);
  EXPECT_EQ(first.plan.start, search::hlp_best(instance, options, &solution).plan.start);
  EXPECT_EQ(first.plan.start, search::hlp_best(instance, options).plan.start);
  EXPECT_NO_THROW(validate(first.plan.schedule(), check::requirements(instance)));
}

TEST(HlpBest, HasHeftAndHlpOlsBeforeItsTimeLimit) {
  const Instance instance = graphs::cholesky(8, {4, 1}, 0.2, 5);
  const hlp::HlpSolution solution = hlp::hlp(instance);
  search::HlpBestOptions options;
  options.time_limit = 0;
  const search::HlpBestResult stopped = search::hlp_best(instance, options, &solution);
  EXPECT_FALSE(stopped.is_complete);
  const Plan by_ols = list::ols(instance, hlp::round_allocation(instance.times(), solution.x));
  EXPECT_EQ(stopped.plan.makespan(), std::min(list::heft(instance).makespan(), by_ols.makespan()));
  // A short LP is given the time it needs, so that HLP-OLS is among what it returns.
  const search::HlpBestResult nothing = search::hlp_best(instance, options);
  EXPECT_FALSE(nothing.is_complete);
  EXPECT_TRUE(nothing.relaxation.complete);
  EXPECT_EQ(nothing.plan.makespan(), stopped.plan.makespan());
  EXPECT_NEAR(nothing.windows_bound.value, solution.value, 1e-9 * solution.value);
}

TEST(HlpBest, SaysWhichBoundIsTheGreatest) {
  search::HlpBestResult best_result;
  best_result.windows_bound.value = 3;
  EXPECT_STREQ(best_result.best_bound().second, "windows");
  best_result.transfers_bound.emplace();
  best_result.transfers_bound->value = 3;  // no more
  EXPECT_STREQ(best_result.best_bound().second, "windows");
  best_result.transfers_bound->value = 4;
  EXPECT_STREQ(best_result.best_bound().second, "transfers");
  best_result.memory_bound = 5;
  EXPECT_STREQ(best_result.best_bound().second, "memory");
  EXPECT_EQ(best_result.best_bound().first, 5);
}

TEST(HlpBest, EndsWhereItMeetsTheBound) {
  Rng rng(17);
  int met = 0;
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 2 + round % 6;
    options.types = 1 + round % 3;
    options.most_units = 2;
    options.integers = round % 2 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const double optimum = brute_force(instance);
    const search::HlpBestResult result = search::hlp_best(instance);
    EXPECT_TRUE(result.is_complete);
    EXPECT_NO_THROW(validate(result.plan.schedule(), check::requirements(instance)));
    EXPECT_GE(result.plan.makespan(), optimum * (1 - 1e-12));
    EXPECT_EQ(check::certified_bound(instance, result.windows_bound.certificate),
              result.windows_bound.value);
    if (!search::is_proven_optimal(result.plan.makespan(), result.windows_bound.value)) continue;
    EXPECT_LE(result.plan.makespan(), optimum * (1 + 1e-9));
    ++met;
  }
  EXPECT_GE(met, 250);
}

}  // namespace
}  // namespace cosched::dags
