#include "cosched/bags/search/ttb_best.hpp"

#include <gtest/gtest.h>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/annealing.hpp"
#include "cosched/bags/search/exchanges.hpp"
#include "cosched/bags/search/patterns.hpp"
#include "support/bags_instances.hpp"
#include "support/show_bags.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

// Greatest gain of a pattern, by trying every one.
double greatest_gain(const Instance& instance, int j, double limit,
                     const std::vector<double>& value, int i) {
  if (i == instance.types()) return 0;
  double best = -kInfinity;
  for (std::int64_t n = 0; n <= instance.count(i); ++n) {
    const double seconds = static_cast<double>(n) * instance.etc(i, j);
    if (seconds > limit) break;
    best = std::max(best, static_cast<double>(n) * (value[i] - instance.joules(i, j)) +
                              greatest_gain(instance, j, limit - seconds, value, i + 1));
  }
  return best;
}

TEST(Patterns, MostGainEqualsExhaustiveSearch) {
  Rng rng(4);
  Shape shape;
  shape.types = 4;
  shape.machine_types = 1;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SHOW_ON_FAILURE(seed);
    shape.integers = seed % 2 == 0 ? 0 : 5;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    std::vector<double> value;
    for (int i = 0; i < 4; ++i) value.push_back(instance.joules(i, 0) * (2.5 * rng.uniform()));
    const double limit = 3 * rng.uniform() * longest_finite(instance.etc());
    const double greatest = greatest_gain(instance, 0, limit * (1 + kLoadTolerance), value, 0);
    const double gain = search::max_gain(instance, 0, limit, value);
    EXPECT_NEAR(gain, greatest, 1e-6 * greatest + 1e-12);
  }
}

TEST(Patterns, RelaxationIsBetweenTheFrontAndEveryPlanWithinTheLimit) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.types = 6;
    shape.machine_types = 3;
    shape.most_tasks = 20;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const BagPlan plan = rounding::ttb_exact(instance);
    const energy::EnergyRelaxation relaxed = energy::solve_relaxation(instance, plan.makespan);
    std::vector<double> value(6, instance.least_joules());
    search::PatternPool pool(instance, plan.makespan, value);
    const search::PatternUse use = pool.solve(100);
    ASSERT_TRUE(use.is_complete);
    EXPECT_GE(use.joules, relaxed.joules * (1 - 1e-9));
    EXPECT_LE(use.joules, plan.joules * (1 + 1e-7));
    const BagPlan rounded = make_plan_of_runs(
        instance,
        search::ExchangeState(instance, search::make_pattern_runs(instance, pool, use)).runs());
    for (int i = 0; i < 6; ++i) EXPECT_EQ(rounded.counts.row(i).sum(), instance.count(i));
  }
}

TEST(Patterns, RoundsAddPatternsAndNoneAddsNone) {
  const Instance instance = figure_3_instance(300, 1.2, 3);
  const double limit = 1.2 * energy::least_makespan(instance);
  search::PatternPool pool(instance, limit, std::vector<double>(30, instance.least_joules()));
  const std::size_t first = pool.patterns().size();
  pool.solve(0);
  EXPECT_EQ(pool.patterns().size(), first);
  pool.solve(1);
  EXPECT_GT(pool.patterns().size(), first);
}

// Two tasks of 5 s on a machine of 8 s; on the other one a task costs 100 joules more.
TEST(Shop, SqueezePaysForWhatIsAboveTheLimitAlone) {
  const Instance instance({2}, {1, 1}, Table{{5, 5}}, Table{{0.2, 20.2}}, 1, 1);
  for (const double penalty : {10, 60}) {  // a second, of the two that are above
    search::ExchangeState shop(instance, {{0, 0, 0, 2}});
    std::int64_t work = 1000;
    EXPECT_EQ(shop.lower_loads_to(8, {0, 0}, penalty, work), penalty > 50);
    EXPECT_EQ(shop.makespan(), penalty > 50 ? 5 : 10);
  }
}

// 10 s where 5 s are the limit: the task of 3 s is cheaper to move than that of 5 s, but not
// enough.
TEST(Shop, SqueezeMovesOnceWhereThatIsEnough) {
  const Instance instance({1, 1, 1}, {1, 1}, Table{{3, 3}, {5, 5}, {2, 2}},
                          Table{{1, 2}, {1, 2}, {1, 10}}, 1, 1);
  search::ExchangeState shop(instance, {{0, 0, 0, 1}, {1, 0, 0, 1}, {2, 0, 0, 1}});
  std::int64_t work = 1000;
  ASSERT_TRUE(shop.lower_loads_to(5, {0, 0}, 10, work));
  EXPECT_EQ(shop.runs().size(), 3u);
  EXPECT_DOUBLE_EQ(shop.joules(), 3 + 10 + 2);
}

TEST(Shop, SqueezeKeepsEveryTaskAndItsBooks) {
  int squeezed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.types = 5;
    shape.machine_types = 3;
    shape.most_tasks = 30;
    shape.integers = seed % 2 == 0 ? 0 : 9;
    shape.holes = seed % 3 == 0;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const BagPlan plan = rounding::tms(instance);
    search::ExchangeState shop(instance, plan.runs);
    EXPECT_DOUBLE_EQ(shop.makespan(), plan.makespan);
    std::int64_t work = 1'000'000;
    const double limit = 0.5 * (plan.makespan + energy::least_makespan(instance));
    const bool done =
        shop.lower_loads_to(limit, std::vector<double>(3, 0.1), 100 * plan.joules / limit, work);
    squeezed += done;
    const BagPlan after = make_plan_of_runs(instance, shop.runs());
    for (int i = 0; i < 5; ++i) ASSERT_EQ(after.counts.row(i).sum(), instance.count(i));
    EXPECT_NEAR(after.makespan, shop.makespan(), 1e-9 * after.makespan);
    EXPECT_NEAR(after.joules, shop.joules(), 1e-9 * after.joules);
    if (done) {
      EXPECT_LE(after.makespan, limit * (1 + 2 * kLoadTolerance));
    }
  }
  EXPECT_GT(squeezed, 20);
}

TEST(TtbBest, IsNeverBelowTheOthersAndOftenOptimal) {
  int optimal = 0, all = 0;
  for (const double gamma : {0.8, 1.0, 1.1, 1.5})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SHOW_ON_FAILURE(seed);
      Shape shape;
      shape.types = 3;
      shape.most_tasks = 3;
      shape.most_machines = 2;
      shape.gamma = gamma;
      shape.idle = seed % 3 == 1;
      shape.cap = seed % 3 == 2 ? 1.3 : 0;
      const Instance instance = random_instance(shape, seed);
      SHOW_ON_FAILURE(instance);
      const search::TtbBestResult best = search::ttb_best(instance);
      EXPECT_TRUE(best.is_complete);
      const double scale = 1e-9 * instance.price() / best.plan.makespan;
      for (const BagPlan& plan : {rounding::ttb(instance, rounding::kDefaultEps),
                                  rounding::ttb_exact(instance), rounding::tms(instance),
                                  rounding::min_energy(instance), rounding::min_makespan(instance)})
        EXPECT_GE(best.plan.profit_rate, plan.profit_rate - scale);
      const double optimum = BruteForce(instance).best_rate();
      EXPECT_LE(best.plan.profit_rate, optimum + scale);
      ++all;
      optimal += best.plan.profit_rate >= optimum - 1e-6 * std::abs(optimum);
    }
  EXPECT_GT(optimal, all / 2);
}

TEST(TtbBest, AnnealingMakesItBetter) {
  Shape shape;
  shape.types = 10;
  shape.machine_types = 3;
  shape.most_tasks = 12;
  shape.most_machines = 6;
  const Instance instance = random_instance(shape, 1);
  SHOW_ON_FAILURE(instance);
  EXPECT_GT(search::ttb_best(instance).plan.profit_rate,
            search::ttb_best(instance, 1).plan.profit_rate);
}

TEST(TtbBest, MeetsTheOptimumUnderPowerCapsAndIdlePower) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.most_tasks = 3;
    shape.most_machines = 2;
    shape.integers = seed % 2 == 0 ? 0 : 9;
    shape.holes = seed % 5 == 4;
    shape.idle = seed % 3 != 0;
    shape.cap = seed % 4 == 0 ? 0 : 1.5;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const double optimum = BruteForce(instance).best_rate();
    EXPECT_NEAR(search::ttb_best(instance).plan.profit_rate, optimum, 1e-9 * std::abs(optimum))
        << "seed " << seed;
  }
}

TEST(Annealed, IsAPlanOfTheSameTasksThatEarnsWhatItSays) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.types = 5;
    shape.machine_types = 3;
    shape.most_tasks = 12;
    shape.cap = seed % 2 == 0 ? 0 : 2;
    shape.idle = seed % 3 == 0;
    shape.holes = seed % 4 == 0;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const BagPlan start = rounding::min_energy(instance);
    const BagPlan annealed_plan = search::anneal_plan(instance, start, 20'000, seed).plan;
    EXPECT_GE(annealed_plan.profit_rate, start.profit_rate);
    for (int i = 0; i < instance.types(); ++i)
      EXPECT_EQ(annealed_plan.counts.row(i).sum(), start.counts.row(i).sum());
    EXPECT_DOUBLE_EQ(annealed_plan.profit_rate,
                     make_plan_of_runs(instance, annealed_plan.runs).profit_rate);
    EXPECT_EQ(annealed_plan.profit_rate,
              search::anneal_plan(instance, start, 20'000, seed).plan.profit_rate);
  }
}

TEST(TtbBest, IsDeterministicAndStopsInTime) {
  const Instance instance = figure_3_instance(3000, 1.2, 3);
  const search::TtbBestResult once = search::ttb_best(instance), twice = search::ttb_best(instance);
  EXPECT_EQ(once.plan.profit_rate, twice.plan.profit_rate);
  const search::TtbBestResult none = search::ttb_best(instance, search::kBestWork, 0.0);
  EXPECT_FALSE(none.is_complete);
  EXPECT_GE(none.plan.profit_rate, rounding::min_energy(instance).profit_rate);
  EXPECT_LE(once.plan.profit_rate, energy::best_rate(instance, energy::Cut::long_tasks).rate);
  EXPECT_GT(once.plan.profit_rate, none.plan.profit_rate);
}

}  // namespace
}  // namespace cosched::bags
