// The door to each method: it is that of room `shared` exactly where tasks share something.
#include "cosched/packs/solve/solve.hpp"

#include <gtest/gtest.h>

#include "cosched/core/rng.hpp"
#include "cosched/core/sharing.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/shared/cheapest_cover.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/local_search.hpp"
#include "cosched/packs/shared/optimal.hpp"
#include "cosched/packs/shared/pairs.hpp"
#include "cosched/packs/shared/subsets.hpp"

namespace cosched::packs {
namespace {

Instance least_times(int tasks, int max_tasks) {
  Rng rng(11);
  Table times(tasks, 4);
  for (int i = 0; i < tasks; ++i) {
    const double first = 4 + 8 * rng.uniform();
    for (int q = 1; q <= 4; ++q) times(i, q - 1) = first * (0.3 + 0.7 / q);
  }
  return Instance(Times(times), max_tasks);
}

// No two tasks fit together: each needs all of the memory.
Instance crowded(int tasks, int max_tasks) {
  const Instance plain = least_times(tasks, max_tasks);
  Table need(tasks, 1);
  for (int i = 0; i < tasks; ++i) need(i, 0) = 1;
  return Instance(
      plain.times(), max_tasks,
      std::make_shared<const Sharing>(
          tasks, std::vector<Resource>{{.name = "memory", .capacity = 1.0, .need = need}},
          std::nullopt, std::nullopt));
}

TEST(PacksSolve, WhatTasksShareIsKeptByEachMethod) {
  const Instance instance = crowded(5, 2);
  const std::vector<double> epsilons{0.5};
  for (const Coschedule& coschedule :
       {solve::random_pack(instance, 3, 1), solve::random_proc(instance, 3, 1),
        solve::pack_by_pack(instance, epsilons), solve::local_search(instance, 1).coschedule,
        solve::pairs(instance), solve::optimal(instance).coschedule}) {
    EXPECT_EQ(packs_of(coschedule.pack_of).size(), 5U);  // a pack each
    EXPECT_GE(coschedule.cost, solve::column_bound(instance).value * (1 - 1e-9));
  }
  EXPECT_EQ(solve::optimal(instance).coschedule.cost,
            shared::optimal(instance, std::nullopt).coschedule.cost);
}

TEST(PacksSolve, WithoutItTheMethodsForTasksAlone) {
  const Instance instance = least_times(6, 2);
  const ExactResult result = solve::optimal(instance);
  EXPECT_EQ(result.coschedule.cost, exact::optimal(instance, std::nullopt).coschedule.cost);
  EXPECT_LT(result.coschedule.cost, solve::optimal(crowded(6, 2)).coschedule.cost);
  EXPECT_EQ(solve::pack_by_pack(instance, {0.5}).pack_of,
            heuristic::pack_by_pack(instance, {0.5}).pack_of);
}

}  // namespace
}  // namespace cosched::packs
