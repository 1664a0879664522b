#include "cosched/packs/shared/pack_price.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "cosched/core/rng.hpp"
#include "cosched/packs/shared/cheapest_cover.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/local_search.hpp"
#include "cosched/packs/shared/optimal.hpp"
#include "cosched/packs/shared/pairs.hpp"
#include "cosched/packs/shared/subsets.hpp"
#include "support/show_packs.hpp"
#include "support/small_stack.hpp"

namespace cosched::packs::shared {
namespace {

Instance drawn(std::uint64_t seed, int tasks, int procs, int max_tasks) {
  Rng rng(seed);
  Table times(tasks, procs);
  Matrix<double> slow(tasks, tasks, 1), need(tasks, procs), demand(tasks, procs);
  std::vector<double> stall;
  for (int i = 0; i < tasks; ++i) {
    const double work = 1 + 9 * rng.uniform(), serial = 0.4 * rng.uniform();
    for (int q = 1; q <= procs; ++q) {
      times(i, q - 1) = work * (serial + (1 - serial) / q);
      need(i, q - 1) = 1 + 4 * rng.uniform();
      demand(i, q - 1) = std::min(6.0, q * 3 * rng.uniform());
    }
    for (int j = 0; j < tasks; ++j) slow(i, j) = 1 + rng.uniform();
    stall.push_back(rng.uniform());
  }
  const auto rule = static_cast<SlowdownRule>(seed % 3);
  return Instance(Times(times), max_tasks,
                  std::make_shared<const Sharing>(
                      tasks, std::vector<Resource>{{.name = "memory", .capacity = 8, .need = need}},
                      Slowdowns{.table = slow, .rule = rule},
                      Bandwidth{.demand = demand, .capacity = 6, .stall = stall}));
}

TEST(PackPricer, ExactIsTheBestOfAllCounts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = drawn(seed, 3, 5, 3);
    SHOW_ON_FAILURE(instance);
    double shortest = kInfinity;
    for (int a = 1; a <= 5; ++a)
      for (int b = 1; a + b <= 5; ++b)
        for (int c = 1; a + b + c <= 5; ++c) {
          const std::vector<cosched::RunningTask> pack = as_pack(instance, {0, 1, 2}, {a, b, c});
          if (!instance.sharing()->fits(pack)) continue;
          const std::vector<double> ends = instance.sharing()->ends(pack);
          shortest = std::min(shortest, *std::max_element(ends.begin(), ends.end()));
        }
    PackPricer pricer(instance);
    const PackPrice exact = pricer.exact_price({0, 1, 2}), quick = pricer.quick_price({0, 1, 2});
    EXPECT_TRUE(close(exact.cost, shortest)) << seed;
    EXPECT_TRUE(leq(exact.cost, quick.cost));
    EXPECT_TRUE(leq(pricer.lower_bound({0, 1, 2}), shortest));
    EXPECT_EQ(pricer.exact_price({0, 1, 2}, shortest * (1 - 1e-6)).cost,
              kInfinity);  // none is below
  }
}

TEST(Shared, PairsAndSubsetsAgree) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = drawn(seed, 9, 5, 2);
    SHOW_ON_FAILURE(instance);
    const ExactResult best = optimal(instance, std::nullopt);
    EXPECT_TRUE(best.is_proved);
    EXPECT_TRUE(close(best.coschedule.cost, pairs(instance).cost));
    EXPECT_TRUE(leq(bound(instance, std::nullopt).value, best.coschedule.cost));
  }
}

// Two alike on one processor each: raising one alone ends no earlier.
TEST(PackPricer, QuickGivesEachAFasterCount) {
  const Instance instance(
      Times(Table{{8, 4, 4, 4}, {8, 4, 4, 4}}), 2,
      std::make_shared<const Sharing>(
          2, std::vector<Resource>{{.name = "memory", .capacity = 9, .need = {{1}, {1}}}},
          std::nullopt, std::nullopt));
  const PackPrice quick = PackPricer(instance).quick_price({0, 1});
  EXPECT_EQ(quick.cost, 4);
  EXPECT_EQ(quick.procs, (std::vector<int>{2, 2}));
}

TEST(PackPricer, LowerCountsEveryProcessor) {
  const auto with = [](std::initializer_list<double> times) {
    return Instance(
        Times(Table{times, times, times}), 3,
        std::make_shared<const Sharing>(
            3, std::vector<Resource>{{.name = "memory", .capacity = 9, .need = {{1}, {1}, {1}}}},
            std::nullopt, std::nullopt));
  };
  EXPECT_EQ(PackPricer(with({6, 3, 2})).lower_bound({0, 1, 2}), 6);
  EXPECT_EQ(PackPricer(with({6, 3, 2, 2, 2})).lower_bound({0, 1, 2}), 6);
  EXPECT_EQ(PackPricer(with({6, 3, 2, 2, 2, 2})).lower_bound({0, 1, 2}), 3);
  EXPECT_EQ(PackPricer(with({6, 3})).lower_bound({0, 1, 2}), kInfinity);
}

// On one processor each, both do not fit.
TEST(PackPricer, QuickBeginsWhereLeastIsNeeded) {
  const Instance instance(
      Times(Table{{8, 6, 6, 6}, {8, 6, 6, 6}}), 2,
      std::make_shared<const Sharing>(
          2,
          std::vector<Resource>{
              {.name = "memory", .capacity = 8, .need = {{6, 3, 6, 6}, {6, 3, 6, 6}}}},
          std::nullopt, std::nullopt));
  EXPECT_EQ(PackPricer(instance).quick_price({0, 1}).procs, (std::vector<int>{2, 2}));
}

// Beyond the tasks of the programme over subsets: by the relaxation over sets, and a cover.
TEST(Shared, PairsAndTheProofBySetsAgree) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = drawn(seed, 18, 5, 2);
    SHOW_ON_FAILURE(instance);
    const double pair_cost = pairs(instance).cost;
    const ExactResult best = optimal(instance, std::nullopt);
    EXPECT_TRUE(best.is_proved);
    EXPECT_TRUE(close(best.coschedule.cost, pair_cost)) << seed;
    const double proven = bound(instance, std::nullopt).value;
    EXPECT_TRUE(leq(proven, pair_cost));
    EXPECT_GE(proven, 0.97 * pair_cost) << seed;
    const ExactResult at_once = optimal(instance, 0.0);
    EXPECT_TRUE(leq(at_once.bound, pair_cost));
    EXPECT_TRUE(!at_once.is_proved || close(at_once.coschedule.cost, pair_cost));
  }
}

// Nothing but the numbers of the tasks is another.
TEST(Shared, ThreesCostTheSameInAnyOrder) {
  const Instance instance = drawn(4, 17, 5, 3);
  SHOW_ON_FAILURE(instance);
  std::vector<int> back(17);
  for (int i = 0; i < 17; ++i) back[i] = 16 - i;
  Table times(17, 5);
  for (int i = 0; i < 17; ++i)
    for (int q = 1; q <= 5; ++q) times(i, q - 1) = instance.times().measured_time(back[i], q);
  const Instance turned(Times(times), 3,
                        std::make_shared<const Sharing>(instance.sharing()->select(back)));
  const ExactResult original = optimal(instance, std::nullopt),
                    other = optimal(turned, std::nullopt);
  EXPECT_TRUE(original.is_proved && other.is_proved);
  EXPECT_TRUE(close(original.coschedule.cost, other.coschedule.cost));
  EXPECT_TRUE(leq(original.coschedule.cost, pairs(drawn(4, 17, 5, 2)).cost));
}

TEST(Shared, SubsetsAreBetterThanWhatTheyAreGiven) {
  const Instance instance = drawn(1, 8, 5, 2);
  SHOW_ON_FAILURE(instance);
  PackTable table(instance);
  Packs alone;
  for (int i = 0; i < 8; ++i) alone.push_back({i});
  const ExactResult result =
      subsets(instance, {coschedule_at_prices(instance, table, alone), 0, false, true});
  EXPECT_TRUE(result.is_proved);
  EXPECT_TRUE(close(result.coschedule.cost, pairs(instance).cost));
}

// The third task makes the others five times as slow, and they it: it has a pack of its own.
TEST(Shared, PacksArePartedWhereCompanyCostsMore) {
  const Instance instance(
      Times(Table{{10, 10, 10}, {10, 10, 10}, {10, 10, 10}}), 3,
      std::make_shared<const Sharing>(
          3, std::vector<Resource>{},
          Slowdowns{Matrix<double>{{1, 1, 5}, {1, 1, 5}, {5, 5, 1}}, SlowdownRule::sum},
          std::nullopt));
  const Coschedule coschedule = pack_by_pack(instance, {0.5});
  EXPECT_EQ(coschedule.cost, 20);
  EXPECT_EQ(coschedule.pack_of[0], coschedule.pack_of[1]);
  EXPECT_NE(coschedule.pack_of[0], coschedule.pack_of[2]);
}

// More tasks than the programme over subsets takes: annealing alone, which the pairs judge.
TEST(Shared, AnnealingFindsMoreThanItStartsFrom) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = drawn(seed, 18, 5, 2);
    SHOW_ON_FAILURE(instance);
    const double start = local_search(instance, 0, 0, std::nullopt).coschedule.cost;
    const double search_cost = local_search(instance, 0, 20'000, std::nullopt).coschedule.cost;
    EXPECT_LE(search_cost, start);
    EXPECT_TRUE(leq(pairs(instance).cost, search_cost)) << seed;
    better += search_cost < start;
  }
  EXPECT_GT(better, 1);
}

TEST(ExactCover, FindsTheCheapest) {
  const std::vector<SetRelaxation::SetColumn> columns{
      {{0, 1}, 0.3}, {{2}, 0.1}, {{0}, 0.1}, {{1, 2}, 0.2}, {{1}, 0.5}};
  const CoverResult cover = cheapest_cover(3, columns, 1, 1000);
  ASSERT_TRUE(cover.packs.has_value());
  EXPECT_NEAR(cover.sum, 0.3, 1e-15);
  EXPECT_FALSE(cheapest_cover(3, columns, 0.25, 1000).packs.has_value());
}

TEST(CheapestCover, AsManyLevelsAsTasksNeedNoStack) {
  constexpr int kTasks = 3'000;
  std::vector<SetRelaxation::SetColumn> columns;
  for (int i = 0; i < kTasks; ++i) columns.push_back({{i}, 1e-6});
  CoverResult cover;
  tests::run_on_small_stack([&] { cover = cheapest_cover(kTasks, columns, 1, 10 * kTasks); });
  EXPECT_TRUE(cover.is_complete);
  ASSERT_TRUE(cover.packs.has_value());
  EXPECT_EQ(cover.packs->size(), static_cast<std::size_t>(kTasks));
  EXPECT_NEAR(cover.sum, 1e-6 * kTasks, 1e-9);
}

}  // namespace
}  // namespace cosched::packs::shared
