#include "cosched/bags/search/rate_bound.hpp"

#include <gtest/gtest.h>

#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/search/annealing.hpp"
#include "cosched/bags/search/dive.hpp"
#include "cosched/bags/search/exchanges.hpp"
#include "cosched/bags/search/patterns.hpp"
#include "cosched/bags/search/recreation.hpp"
#include "cosched/bags/search/ttb_best.hpp"
#include "support/bags_instances.hpp"
#include "support/show_bags.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

Instance small_instance(std::uint64_t seed, bool price = true) {
  Shape shape;
  shape.types = 3;
  shape.most_tasks = 3;
  shape.most_machines = 2;
  shape.gamma = price ? 1.1 + 0.1 * static_cast<double>(seed % 5) : 0.8;
  shape.integers = seed % 2 == 0 ? 0 : 9;
  shape.holes = seed % 5 == 4;
  shape.idle = seed % 3 == 1;
  shape.cap = seed % 3 == 2 ? 1.3 : 0;
  return random_instance(shape, seed);
}

TEST(RateBound, IsAboveEveryPlanAndNeverWeakerThanTheFront) {
  int tighter = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = small_instance(seed);
    SHOW_ON_FAILURE(instance);
    const double optimum = BruteForce(instance).best_rate();
    const auto front = energy::energy_front(instance, energy::Cut::long_tasks);
    const double relaxed = energy::best_rate(instance, energy::Cut::long_tasks).rate;
    search::RateBound bound(instance, front);
    double last = kInfinity;
    for (int step = 0; step < 300 && bound.tighten(-kInfinity); ++step) {
      EXPECT_GE(bound.rate_bound(), optimum - 1e-9 * std::abs(optimum)) << "seed " << seed;
      EXPECT_LE(bound.rate_bound(), last);
      last = bound.rate_bound();
    }
    tighter += bound.rate_bound() < relaxed - 1e-6 * std::abs(relaxed);
  }
  EXPECT_GT(tighter, 5);
}

TEST(RateBound, OpenMakespansAreWhereMoreMayBeEarned) {
  const Instance instance = small_instance(3);
  SHOW_ON_FAILURE(instance);
  const auto front = energy::energy_front(instance, energy::Cut::long_tasks);
  search::RateBound bound(instance, front);
  Rng rng(1);
  for (int draw = 0; draw < 100; ++draw) {
    SHOW_ON_FAILURE(draw);
    const auto makespan = bound.draw_open_makespan(-kInfinity, rng);
    ASSERT_TRUE(makespan);
    EXPECT_GE(*makespan, front.front().makespan * (1 - 1e-12));
    EXPECT_LE(*makespan, front.back().makespan * (1 + 1e-12));
  }
  EXPECT_FALSE(bound.draw_open_makespan(kInfinity, rng));
}

TEST(Dive, PlacesEveryTaskWithinTheLimitOrNothing) {
  int placed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.types = 6;
    shape.machine_types = 3;
    shape.most_tasks = 20;
    shape.holes = seed % 3 == 0;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const double limit = 1.2 * energy::least_makespan(instance);
    for (const search::RelaxedPrices& at : search::relaxed_prices_at(instance, {limit})) {
      search::PatternPool pool(instance, limit, search::task_values(instance, at));
      const search::PatternUse use = pool.solve(60, search::kSurelyMissingTaskFactor);
      Rng rng(seed);
      const auto runs = search::dive_into_patterns(
          instance, pool, use, {instance.counts(), instance.all_machines()}, rng);
      if (!runs) continue;
      ++placed;
      const BagPlan plan = make_plan_of_runs(instance, *runs);
      for (int i = 0; i < 6; ++i) ASSERT_EQ(plan.counts.row(i).sum(), instance.count(i));
      EXPECT_LE(plan.makespan, limit * (1 + 1e-9));
      EXPECT_GE(plan.joules, use.joules * (1 - 1e-6));

      const search::PlanRecreation recreation(instance, plan, search::task_values(instance, at));
      for (int attempt = 0; attempt < 5; ++attempt) {
        const double shorter = plan.makespan * (1 - 0.02 * attempt);
        const auto anew = recreation.try_recreation(shorter, 6, rng);
        if (!anew) continue;
        const BagPlan other =
            make_plan_of_runs(instance, search::ExchangeState(instance, *anew).runs());
        for (int i = 0; i < 6; ++i) ASSERT_EQ(other.counts.row(i).sum(), instance.count(i));
        EXPECT_LE(other.makespan, shorter * (1 + 1e-9));
      }
    }
  }
  EXPECT_GT(placed, 20);
}

TEST(Recreation, IsOfNoUseWhereNothingIsGained) {
  const Instance instance({2}, {2, 2}, Table{{1, 1}}, Table{{1, 3}}, 1, 1);
  Rng rng(1);
  const auto anew = [&](int j) {  // of a plan with a task on each machine of type j
    const auto task_on = [&](int machine) {
      return TaskRun{.task_type = 0, .machine_type = j, .machine = machine, .count = 1};
    };
    const BagPlan plan = make_plan_of_runs(instance, {task_on(0), task_on(1)});
    return search::PlanRecreation(instance, plan, {1}).try_recreation(plan.makespan, 4, rng);
  };
  EXPECT_FALSE(anew(0));
  const auto runs = anew(1);
  ASSERT_TRUE(runs);
  EXPECT_DOUBLE_EQ(make_plan_of_runs(instance, *runs).joules, 2);
}

TEST(TtbBest, WhatItProvesHolds) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance small = small_instance(seed, seed % 4 != 0);
    SHOW_ON_FAILURE(small);
    const search::TtbBestResult best = search::ttb_best(small, 4 * search::kBestWork);
    const double optimum = BruteForce(small).best_rate();
    EXPECT_LE(best.plan.profit_rate, optimum + 1e-9 * std::abs(optimum));
    EXPECT_GE(best.rate_bound, optimum - 1e-9 * std::abs(optimum));
    if (best.is_proved) {
      EXPECT_NEAR(best.plan.profit_rate, optimum, 1e-9 * std::abs(optimum));
    }
  }
}

}  // namespace
}  // namespace cosched::bags
