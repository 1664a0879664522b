#include "cosched/packs/search/local_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/errors.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "cosched/packs/solve/solve.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

constexpr std::int64_t kLittle = 50'000;  // work of tests: a hundredth of the default

TEST(LocalSearch, FindsTheOptimumOfFewTasksAndIsNeverWorseThanPackByPack) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 7; ++n)
      for (const int p : {1, 2, 5})
        for (const int k : {1, 2, 3, n}) {
          const Instance instance(Times(small_table(kind, n, p, 10 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          const SearchedCoschedule search_result = search::local_search(instance, n, kLittle);
          EXPECT_TRUE(search_result.is_complete);
          const Coschedule& result = search_result.coschedule;
          require_valid(instance, result);
          EXPECT_LE(result.cost,
                    heuristic::pack_by_pack(instance, heuristic::nine_epsilons()).cost);
          EXPECT_NEAR(result.cost / exhaustive_optimum(instance), 1, 1e-12);  // n is small
        }
}

TEST(LocalSearch, IsNeverWorseThanAGivenStart) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance(Times(speedup_workload(20, 8, seed)), 1 + static_cast<int>(seed % 8));
    SHOW_ON_FAILURE(instance);
    const Coschedule start = heuristic::random_pack(instance, 1, seed);
    const SearchedCoschedule result =
        search::local_search_from(instance, packs_of(start.pack_of), seed, kLittle, std::nullopt);
    EXPECT_TRUE(result.is_complete);
    require_valid(instance, result.coschedule);
    EXPECT_LE(result.coschedule.cost, start.cost);
  }
}

TEST(LocalSearch, IsBetterThanPackByPackOnWorkloads) {
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const int k : {2, 4, 16}) {
      const Instance instance(Times(workload_ii(seed)), k);
      SHOW_ON_FAILURE(instance);
      EXPECT_LT(search::local_search(instance, seed, kLittle).coschedule.cost,
                heuristic::pack_by_pack(instance, heuristic::nine_epsilons()).cost);
    }
}

TEST(LongestFirst, IsAStartOfLocalSearch) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance(Times(small_table(kind, 20, 6, seed)),
                              1 + static_cast<int>(seed % 6));
      SHOW_ON_FAILURE(instance);
      const Coschedule start = heuristic::longest_first(instance);
      require_valid(instance, start);
      EXPECT_LE(search::local_search(instance, seed, kLittle).coschedule.cost, start.cost);
    }
}

TEST(LongestFirst, MeetsTheBoundOfTheLongestWhereProcessorsAbound) {
  Table table(30, 40);
  for (int i = 0; i < 30; ++i)
    for (double& time : table.row(i)) time = 1.0 + i;
  const Instance instance(Times(table), 3);
  EXPECT_NEAR(heuristic::longest_first(instance).cost, longest_bound(instance), 1e-9);
}

TEST(LocalSearch, RepeatsForASeed) {
  const Instance instance(Times(speedup_workload(40, 16, 1)), 4);
  SHOW_ON_FAILURE(instance);
  std::vector<double> costs;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Coschedule first = search::local_search(instance, seed, kLittle).coschedule;
    const Coschedule repeated = search::local_search(instance, seed, kLittle).coschedule;
    EXPECT_EQ(first.pack_of, repeated.pack_of);
    EXPECT_EQ(first.procs, repeated.procs);
    costs.push_back(first.cost);
  }
  EXPECT_NE(*std::min_element(costs.begin(), costs.end()),
            *std::max_element(costs.begin(), costs.end()));
}

TEST(LocalSearch, StopsAtOnceWithoutWorkOrTime) {
  const Instance instance(Times(speedup_workload(40, 16, 2)), 4);
  SHOW_ON_FAILURE(instance);
  const Coschedule start = heuristic::pack_by_pack(instance, heuristic::nine_epsilons());
  const SearchedCoschedule no_work = search::local_search(instance, 1, 0);
  EXPECT_EQ(no_work.coschedule.pack_of, start.pack_of);
  EXPECT_TRUE(no_work.is_complete);
  const SearchedCoschedule no_time =
      search::local_search(instance, 1, search::kLocalSearchWork, 0.0);
  EXPECT_FALSE(no_time.is_complete);
  require_valid(instance, no_time.coschedule);
  EXPECT_LE(no_time.coschedule.cost, heuristic::pack_by_pack(instance, {0.5}).cost);
  EXPECT_THROW(search::local_search(instance, 1, -1), InvalidInstance);
}

TEST(LocalSearch, DefaultWorkIsAtMostSomeSeconds) {
  EXPECT_EQ(search::default_work(1), search::kLocalSearchWork);
  EXPECT_EQ(search::default_work(260), search::kLocalSearchWork);
  for (const int tasks : {261, 1'000, 100'000})
    EXPECT_LE(search::default_work(tasks) * tasks, search::kLocalSearchTotalWork);
  EXPECT_GT(search::default_work(1'000'000'000), 0);
}

TEST(LocalSearch, RefusesWhatItDoesNotKnow) {
  // Two tasks that fit on the processors, and not in the memory, together.
  Matrix<double> memory(2, 2, 3.0);
  const Instance instance(
      Times(Table{{4.0, 2.0}, {4.0, 2.0}}), 2,
      std::make_shared<const Sharing>(
          2, std::vector<Resource>{{.name = "memory", .capacity = 4, .need = memory}}, std::nullopt,
          std::nullopt));
  EXPECT_THROW(search::local_search(instance, 0), InvalidInstance);
  EXPECT_THROW(search::local_search_from(instance, {{0, 1}}, 0, 10, std::nullopt), InvalidInstance);
  EXPECT_THROW(search::subset_programme(instance), InvalidInstance);
  EXPECT_THROW(exact::optimal(instance), InvalidInstance);
  EXPECT_THROW(exact::pairs(instance), InvalidInstance);
  EXPECT_THROW(exact::ilp(instance), InvalidInstance);
  EXPECT_EQ(solve::local_search(instance, 0).coschedule.pack_of, (std::vector<int>{0, 1}));
}

TEST(SubsetProgramme, RefusesMoreTasksThanItsTableTakes) {
  const Instance instance(Times(Table(40, 2, 1.0)), 2);
  EXPECT_THROW(search::subset_programme(instance), InvalidInstance);
}

}  // namespace
}  // namespace cosched::packs
