// optimal against every order of starts on every unit.
#include "cosched/dags/search/optimal.hpp"

#include <gtest/gtest.h>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/search/branch_and_bound.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "dags/plain_schedules.hpp"
#include "dags/transfer_graphs.hpp"
#include "support/show_dags.hpp"
#include "support/small_stack.hpp"

namespace cosched::dags {
namespace {

Instance small_one(Rng& rng, int round, int most_tasks) {
  graphs::RandomOptions options;
  options.tasks = 1 + static_cast<int>(rng.below(most_tasks));
  options.types = 1 + round % 3;
  options.density = 0.6 * rng.uniform();
  options.most_units = 1 + round % 3;
  options.integers = round % 2 == 0;
  const Instance plain = graphs::random(rng, options);
  return round % 4 < 2 ? plain : graphs::with_random_transfers(rng, plain, 0.1 + 2 * rng.uniform());
}

TEST(Optimal, EqualsExhaustiveSearch) {
  Rng rng(331);
  int improved = 0;
  for (int round = 0; round < 2000; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = small_one(rng, round, round % 4 < 2 ? 9 : 7);
    SHOW_ON_FAILURE(instance);
    const double optimum = graphs::exhaustive(instance);
    const search::OptimalResult result = search::optimal(instance);
    plain::expect_valid(instance, result.plan);
    EXPECT_TRUE(result.is_proved && result.is_complete);
    EXPECT_EQ(result.bound, result.plan.makespan());
    EXPECT_TRUE(close(result.bound, optimum)) << "round " << round;

    search::OptimalResult alone;  // the tree from a bad plan, without the bound that proves most
    alone.plan = list::schedule_on_one_unit(instance, 0);
    const double start = alone.plan.makespan();
    EXPECT_TRUE(search::branch_and_bound(instance, std::vector<double>(instance.types(), 1.0),
                                         alone, 1'000'000));
    plain::expect_valid(instance, alone.plan);
    EXPECT_TRUE(close(alone.plan.makespan(), optimum)) << "round " << round;
    improved += alone.plan.makespan() < start;
  }
  EXPECT_GE(improved, 1000);
}

TEST(Optimal, ProvesADozenTasks) {
  Rng rng(332);
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 12;
    options.types = 2 + round % 2;
    options.density = 0.1 + 0.2 * rng.uniform();
    const Instance plain = graphs::random(rng, options);
    SHOW_ON_FAILURE(plain);
    const Instance instance =
        round % 2 == 0 ? plain : graphs::with_random_transfers(rng, plain, 0.1 + rng.uniform());
    const search::OptimalResult result = search::optimal(instance);
    plain::expect_valid(instance, result.plan);
    EXPECT_TRUE(result.is_proved) << "round " << round << ", " << result.nodes << " nodes";
    const search::HlpBestResult best = search::hlp_best(instance);
    EXPECT_LE(result.bound, best.plan.makespan() * (1 + kExactTolerance));
    EXPECT_GE(result.bound, best.windows_bound.value * (1 - kExactTolerance));
  }
}

TEST(Optimal, SaysWhatEndedIt) {
  Rng rng(333);
  graphs::RandomOptions options;
  options.tasks = 40;
  options.density = 0.05;
  const Instance instance = graphs::with_random_transfers(rng, graphs::random(rng, options), 1);
  SHOW_ON_FAILURE(instance);
  const search::OptimalResult short_search = search::optimal(instance, {10, std::nullopt});
  EXPECT_FALSE(short_search.is_proved);
  EXPECT_TRUE(short_search.is_complete);
  EXPECT_LT(short_search.bound, short_search.plan.makespan());
  const search::OptimalResult none = search::optimal(instance, {1000, 0.0});
  plain::expect_valid(instance, none.plan);
  EXPECT_FALSE(none.is_proved || none.is_complete);
}

TEST(Optimal, AsManyLevelsAsTasksNeedNoStack) {
  // A chain, from a plan on the slow type: the search goes down along all of it.
  constexpr int kTasks = 2'000;
  std::vector<std::pair<int, int>> edges;
  for (int task = 1; task < kTasks; ++task) edges.emplace_back(task - 1, task);
  Table times(kTasks, 3, 1.0);
  for (int task = 0; task < kTasks; ++task) times(task, 0) = 2;
  const Instance chain(std::move(times), TaskGraph(kTasks, edges), {1, 1, 1});
  search::OptimalResult result;
  result.plan = list::schedule_on_one_unit(chain, 0);
  EXPECT_EQ(result.plan.makespan(), 2.0 * kTasks);
  tests::run_on_small_stack([&] {
    EXPECT_TRUE(search::branch_and_bound(chain, {1.0, 1.0, 1.0}, result, kUnlimitedWork));
  });
  EXPECT_EQ(result.plan.makespan(), kTasks);
}

}  // namespace
}  // namespace cosched::dags
