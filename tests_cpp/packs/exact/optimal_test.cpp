#include "cosched/packs/exact/optimal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/exact/branch_price.hpp"
#include "cosched/packs/exact/branching.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/pack_filling.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"
#include "support/small_stack.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

// From the plainest start, so that the method has to find the optimum itself.
ExactResult by_branch_and_price(const Instance& instance) {
  return exact::branch_and_price(instance, heuristic::sequential(instance));
}

ExactResult by_subsets(const Instance& instance) {
  const Coschedule coschedule = search::subset_programme(instance);
  return {coschedule, coschedule.cost, true};
}

ExactResult by_optimal(const Instance& instance) { return exact::optimal(instance); }

void check_optimal(const Instance& instance, double optimum) {
  for (const auto method : {by_optimal, by_subsets, by_branch_and_price}) {
    const ExactResult result = method(instance);
    EXPECT_TRUE(result.is_proved);
    require_valid(instance, result.coschedule);
    EXPECT_DOUBLE_EQ(result.bound, result.coschedule.cost);
    EXPECT_NEAR(result.coschedule.cost / optimum, 1, 1e-9)
        << "n " << instance.tasks() << " p " << instance.procs() << " k " << instance.max_tasks();
  }
}

TEST(Optimal, EqualsExhaustiveSearchByEachMethod) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 9; ++n)
      for (const int p : {1, 2, 4, 6})
        for (const int k : {1, 2, 3, 4, n}) {
          if (n == 9 && k > 3) continue;  // exhaustive search takes its time
          const Instance instance(Times(small_table(kind, n, p, 100 * n + p)), k);
          SHOW_ON_FAILURE(instance);
          check_optimal(instance, exhaustive_optimum(instance));
        }
}

TEST(Optimal, EqualsExhaustiveSearchOnNineTasksOfAWorkload) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance(Times(speedup_workload(9, 6, seed)), 4);
    SHOW_ON_FAILURE(instance);
    check_optimal(instance, exhaustive_optimum(instance));
  }
}

// The two methods share only the pricing of a pack.
TEST(Optimal, BranchAndPriceEqualsTheSubsetProgramme) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const int k : {3, 4, 12}) {
      const Instance instance(Times(speedup_workload(14, 12, seed)), k);
      SHOW_ON_FAILURE(instance);
      check_optimal(instance, search::subset_programme(instance).cost);
    }
}

// A search that is cut off after any number of nodes claims nothing that is not so.
TEST(Optimal, NeverClaimsMoreThanItProved) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance(Times(small_table(kind, 8, 5, seed)), 3);
      SHOW_ON_FAILURE(instance);
      const double optimum = exhaustive_optimum(instance);
      for (const int nodes : {0, 1, 2, 3, 5, 8, 13}) {
        const ExactResult result =
            exact::branch_and_price(instance, heuristic::sequential(instance), std::nullopt, nodes);
        require_valid(instance, result.coschedule);
        EXPECT_LE(result.bound, optimum * (1 + 1e-9));
        EXPECT_LE(result.bound, result.coschedule.cost);
        if (result.is_proved) {
          EXPECT_NEAR(result.coschedule.cost / optimum, 1, 1e-9);
        }
      }
    }
}

TEST(Optimal, KeepsAValidBoundWhenTimeEnds) {
  for (const int n : {12, 16, 40})
    for (const double seconds : {0.0, 1e-3, 0.02}) {
      const Instance instance(Times(speedup_workload(n, 16, 7)), 5);
      SHOW_ON_FAILURE(instance);
      // The optimum, or for many tasks a cost close to it: no bound is above either.
      const double known_cost =
          n <= 16
              ? search::subset_programme(instance).cost
              : search::local_search(instance, 1, search::kLocalSearchWork / 10).coschedule.cost;
      const ExactResult result = exact::optimal(instance, seconds);
      require_valid(instance, result.coschedule);
      EXPECT_GT(result.bound, 0);
      EXPECT_LE(result.bound, known_cost * (1 + 1e-9));
      EXPECT_LE(result.bound, result.coschedule.cost);
      EXPECT_EQ(result.is_proved, result.is_complete);
      EXPECT_TRUE(seconds > 0 || !result.is_complete);
      if (result.is_proved) {
        EXPECT_LE(result.coschedule.cost, known_cost * (1 + 1e-9));
      }
    }
}

TEST(Optimal, ALimitAroundItEndsItLikeItsOwn) {
  const Instance instance(Times(speedup_workload(40, 16, 7)), 5);
  SHOW_ON_FAILURE(instance);
  const ScopedTimeLimit limit(0);
  const ExactResult result = exact::optimal(instance, 1000.0);
  EXPECT_FALSE(result.is_complete);
  EXPECT_FALSE(result.is_proved);
  require_valid(instance, result.coschedule);
}

// Without a time limit: each of these once made the master's simplex cycle.
TEST(Optimal, ProvesFortyTasks) {
  for (const auto& [seed, k] : {std::pair{7, 5}, std::pair{9, 10}}) {
    const Instance instance(Times(speedup_workload(40, 16, seed)), k);
    SHOW_ON_FAILURE(instance);
    const ExactResult result = exact::optimal(instance);
    EXPECT_TRUE(result.is_proved);
    require_valid(instance, result.coschedule);
    EXPECT_LE(result.coschedule.cost,
              search::local_search(instance, 1, search::kLocalSearchWork / 10).coschedule.cost *
                  (1 + 1e-9));
    EXPECT_GE(result.bound, columns::column_bound(instance).value);
  }
}

TEST(Optimal, SolvesThreePartition) {
  for (const int k : {3, 4, 5})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SHOW_ON_FAILURE(seed);
      const Instance instance = three_partition(3, 23, k, seed);
      SHOW_ON_FAILURE(instance);
      const ExactResult result = exact::optimal(instance);
      EXPECT_TRUE(result.is_proved);
      EXPECT_DOUBLE_EQ(result.coschedule.cost, 3);
      for (const auto& pack : packs_of(result.coschedule.pack_of))
        EXPECT_EQ(pack.size(), static_cast<std::size_t>(k));
    }
}

TEST(Optimal, RefutesThreePartition) {
  // Six integers that sum to 2 x 20, no three of them to 20; with 6, 6, 8, 6, 7, 7 they do.
  for (const int k : {3, 4}) {
    const Instance no = partition_instance({6, 6, 6, 6, 7, 9}, 20, k);
    const Instance yes = partition_instance({6, 6, 8, 6, 7, 7}, 20, k);
    const double no_optimum = k == 3 ? exhaustive_optimum(no) : search::subset_programme(no).cost;
    EXPECT_GT(no_optimum, 2.01);
    check_optimal(no, no_optimum);
    check_optimal(yes, 2);
  }
}

TEST(Ilp, EqualsExhaustiveSearch) {
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (int n = 1; n <= 3; ++n)
      for (const int k : {1, 2, 3}) {
        const Instance instance(Times(small_table(kind, n, 3, 7 * n)), k);
        SHOW_ON_FAILURE(instance);
        const ExactResult result = exact::ilp(instance);
        ASSERT_TRUE(result.is_proved);
        require_valid(instance, result.coschedule);
        EXPECT_NEAR(result.coschedule.cost, exhaustive_optimum(instance), 1e-9);
        EXPECT_LE(result.bound, result.coschedule.cost);
      }
}

TEST(Ilp, HasAValidBoundWhenTimeEnds) {
  const Instance instance(Times(random_table(6, 4, 1)), 3);
  SHOW_ON_FAILURE(instance);
  const double optimum = exhaustive_optimum(instance);
  for (const double seconds : {0.0, 0.01, 0.1}) {
    const ExactResult result = exact::ilp(instance, seconds);
    EXPECT_LE(result.bound, optimum * (1 + 1e-9));
    EXPECT_EQ(result.is_proved, result.is_complete);
    EXPECT_TRUE(seconds > 0 || !result.is_complete);
    require_valid(instance, result.coschedule);
    EXPECT_GE(result.coschedule.cost, optimum * (1 - 1e-9));
  }
}

TEST(FillPacks, AsManyLevelsAsTasksNeedNoStack) {
  constexpr int kTasks = 4'000;
  const std::vector<int> needs(kTasks, 1);
  exact::PackFilling filling;
  tests::run_on_small_stack([&] { filling = exact::fill_packs(needs, 2, kTasks / 2, kTasks); });
  EXPECT_EQ(filling.answer, exact::PackFilling::FillingAnswer::yes);
  ASSERT_EQ(filling.packs.size(), 2U);
  EXPECT_EQ(filling.packs[0].size(), filling.packs[1].size());
}

TEST(FillPacks, EqualsEveryWayOfFilling) {
  Rng rng(91);
  int can = 0;
  for (int round = 0; round < 3'000; ++round) {
    SHOW_ON_FAILURE(round);
    const int packs = 1 + static_cast<int>(rng.below(3)),
              procs = 2 + static_cast<int>(rng.below(6));
    const int largest_pack = 1 + static_cast<int>(rng.below(4));
    std::vector<int> needs(1 + rng.below(7));
    for (int& need : needs) need = 1 + static_cast<int>(rng.below(procs));
    bool fits = false;
    int ways = 1;
    for (std::size_t i = 0; i < needs.size(); ++i) ways *= packs;
    for (int way = 0; way < ways && !fits; ++way) {
      std::vector<int> used(packs, 0), count(packs, 0);
      for (std::size_t i = 0, rest = way; i < needs.size(); ++i, rest /= packs) {
        used[rest % packs] += needs[i];
        ++count[rest % packs];
      }
      fits = *std::max_element(used.begin(), used.end()) <= procs &&
             *std::max_element(count.begin(), count.end()) <= largest_pack;
    }
    const exact::PackFilling filling = exact::fill_packs(needs, packs, procs, largest_pack);
    EXPECT_EQ(filling.answer == exact::PackFilling::FillingAnswer::yes, fits);
    EXPECT_NE(filling.answer, exact::PackFilling::FillingAnswer::unknown);
    can += fits;
  }
  EXPECT_GT(can, 500);
}

TEST(Optimal, UnderATimeLimitIsNoWorseThanTheLocalSearch) {
  // Of few tasks: the search does some milliseconds of work, which the limit leaves time for many
  // times over.
  constexpr std::int64_t kWork = 1'000'000;
  for (const int tasks : {14, 18})
    for (const std::uint64_t seed : {1, 2}) {
      const Instance instance(Times(random_table(tasks, 8, seed)), 4);
      SHOW_ON_FAILURE(instance);
      const double searched = search::local_search(instance, 0, kWork).coschedule.cost;
      const ExactResult result = exact::optimal(instance, 2.0);
      EXPECT_LE(result.coschedule.cost, searched * (1 + 1e-9)) << tasks << " tasks, seed " << seed;
      EXPECT_LE(result.bound, result.coschedule.cost);
      require_valid(instance, result.coschedule);
    }
}

TEST(Optimal, OfTheSameWorkIsNoWorseThanTheLocalSearch) {
  // So little work that the rounds of the search end above the optimum: another seed, another start
  // or another number of rounds ends elsewhere.
  constexpr std::int64_t kWork = search::kLocalSearchWork / 16;
  int unproved = 0;
  for (const int tasks : {30, 100})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Instance instance(Times(random_table(tasks, 16, seed)), 4);
      SHOW_ON_FAILURE(instance);
      const double searched = search::local_search(instance, 0, kWork).coschedule.cost;
      for (const std::int64_t nodes : {0, 1}) {
        if (nodes > 0 && tasks > 30) continue;
        const ExactResult result = exact::optimal_by_work(instance, kWork, nodes);
        EXPECT_LE(result.coschedule.cost, searched)
            << tasks << " tasks, seed " << seed << ", " << nodes << " nodes";
        EXPECT_LE(result.bound, result.coschedule.cost);
        require_valid(instance, result.coschedule);
        // Without nodes the exact method returns what it is given: the rounds alone decide.
        if (nodes == 0 && !result.is_proved) {
          EXPECT_EQ(result.coschedule.cost, searched);
          ++unproved;
        }
      }
    }
  EXPECT_GE(unproved, 3);
}

}  // namespace
}  // namespace cosched::packs
