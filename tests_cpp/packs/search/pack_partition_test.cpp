#include "cosched/packs/search/pack_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "support/packs_instances.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

double pack_cost(const Times& times, const std::vector<int>& tasks) {
  if (tasks.empty()) return 0;
  heuristic::OnePackSolver solver(times);
  return solver.solve(tasks.data(), static_cast<int>(tasks.size()), times.procs());
}

std::vector<int> tasks_of(const search::PackPartition& partition, int n, int pack) {
  std::vector<int> tasks;
  for (int i = 0; i < n; ++i)
    if (partition.pack_of(i) == pack) tasks.push_back(i);
  return tasks;
}

std::vector<int> changed(std::vector<int> tasks, int out, int in) {
  tasks.erase(std::remove(tasks.begin(), tasks.end(), out), tasks.end());
  if (in >= 0) tasks.push_back(in);
  return tasks;
}

// Every number that the partition gives, against the 1-pack algorithm from scratch.
void check(const search::PackPartition& partition, const Times& times) {
  const int n = times.tasks();
  for (int i = 0; i < n; ++i) {
    const std::vector<int> pack_tasks = tasks_of(partition, n, partition.pack_of(i));
    EXPECT_EQ(partition.size(partition.pack_of(i)), static_cast<int>(pack_tasks.size()));
    EXPECT_EQ(partition.cost(partition.pack_of(i)), pack_cost(times, pack_tasks));
    EXPECT_EQ(partition.cost_without(i), pack_cost(times, changed(pack_tasks, i, -1)));
    EXPECT_EQ(partition.cost_with(partition.empty_place(), i), pack_cost(times, {i}));
    for (int j = 0; j < n; ++j) {
      if (partition.pack_of(j) == partition.pack_of(i)) continue;
      const std::vector<int> replaced = changed(pack_tasks, i, j);
      EXPECT_EQ(partition.cost_replacing(i, j), pack_cost(times, replaced));
      EXPECT_LE(partition.least_cost_with(j, static_cast<int>(replaced.size()) - 1),
                partition.cost_replacing(i, j));
      if (static_cast<int>(pack_tasks.size()) < times.procs()) {
        EXPECT_EQ(partition.cost_with(partition.pack_of(i), j),
                  pack_cost(times, changed(pack_tasks, -1, j)));
      }
    }
  }
}

TEST(Partition, KnowsEveryCostThroughRandomMoves) {
  Rng rng(1);
  for (int kind = 0; kind < kTableKinds; ++kind)
    for (const int n : {1, 2, 5, 8})
      for (const int p : {1, 2, 3, 7}) {
        const Times times(small_table(kind, n, p, 10 * n + p));
        Packs alone(n);
        for (int i = 0; i < n; ++i) alone[i] = {i};
        search::PackPartition partition(times, alone);
        for (int move = 0; move < 60; ++move) {
          SHOW_ON_FAILURE(move);
          const int i = static_cast<int>(rng.below(n)), j = static_cast<int>(rng.below(n));
          const int pack = rng.below(4) == 0 ? partition.empty_place() : partition.pack_of(j);
          if (partition.pack_of(i) == pack) continue;
          if (rng.below(2) == 0 && partition.pack_of(i) != partition.pack_of(j)) {
            if (std::max(partition.cost_replacing(i, j), partition.cost_replacing(j, i)) <
                kInfinity)
              partition.exchange_tasks(i, j);
          } else if (partition.size(pack) < p && partition.cost_with(pack, i) < kInfinity) {
            partition.move_task(i, pack);
          }
          check(partition, times);
        }
      }
}

TEST(Partition, GivesBackItsPacks) {
  const Times times(random_table(6, 4, 1));
  search::PackPartition partition(times, {{0, 3}, {1, 2, 5}, {4}});
  EXPECT_EQ(partition.packs(), (Packs{{0, 3}, {1, 2, 5}, {4}}));
  partition.move_task(4, partition.pack_of(0));  // the third place is empty now
  EXPECT_EQ(partition.packs(), (Packs{{0, 3, 4}, {1, 2, 5}}));
  partition.exchange_tasks(0, 5);
  EXPECT_EQ(partition.packs(), (Packs{{3, 4, 5}, {0, 1, 2}}));
  EXPECT_EQ(partition.size(partition.empty_place()), 0);
  EXPECT_GT(partition.operations(), 0);
}

}  // namespace
}  // namespace cosched::packs
