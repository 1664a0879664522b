#include "cosched/cluster/dfrs/mcb8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "support/cluster_instances.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::dfrs {
namespace {

using testing::plain_mcb8;

struct Items {
  std::vector<int> tasks;
  std::vector<double> cpu, memory;
};

Items random_items(Rng& rng, int n, bool tenths) {
  Items items;
  for (int i = 0; i < n; ++i) {
    const auto draw = [&] {
      return tenths ? 0.1 * static_cast<double>(rng.between(1, 10)) : 1 - rng.uniform();
    };
    items.tasks.push_back(1 + static_cast<int>(rng.below(rng.below(2) ? 3 : 20)));
    items.cpu.push_back(draw());
    items.memory.push_back(draw());
  }
  return items;
}

std::vector<std::vector<int>> vectors(const std::vector<NodeList>& lists) {
  std::vector<std::vector<int>> made;
  for (const NodeList& list : lists) made.emplace_back(list.begin(), list.end());
  return made;
}

std::vector<std::vector<int>> fast_mcb8(const Items& items, int nodes,
                                        const std::vector<std::vector<int>>& pinned = {}) {
  Mcb8 mcb8(items.tasks, items.memory, nodes);
  for (std::size_t i = 0; i < pinned.size(); ++i)
    if (!pinned[i].empty()) mcb8.pin(static_cast<int>(i), pinned[i]);
  if (!mcb8.pack(items.cpu, by_decreasing(items.cpu))) return {};
  mcb8.keep();
  return vectors(mcb8.placement());
}

TEST(Mcb8, PlacementsEqualThePlainAlgorithm) {
  Rng rng(3);
  int packed = 0;
  for (int round = 0; round < 1500; ++round) {
    SHOW_ON_FAILURE(round);
    Items items = random_items(rng, 1 + static_cast<int>(rng.below(25)), rng.below(2) == 0);
    const double yield = rng.below(5) == 0 ? 0 : rng.uniform();
    for (double& cpu : items.cpu) cpu *= yield;
    const int nodes = 1 + static_cast<int>(rng.below(80));
    const auto expected = plain_mcb8(items.tasks, items.cpu, items.memory, nodes);
    EXPECT_EQ(fast_mcb8(items, nodes), expected);
    packed += !expected.empty();
  }
  EXPECT_GT(packed, 300);  // both outcomes are tested
  EXPECT_LT(packed, 1200);
}

TEST(Mcb8, PlacementsEqualThePlainAlgorithmWithPinnedTasks) {
  Rng rng(4);
  int packed = 0;
  for (int round = 0; round < 1500; ++round) {
    SHOW_ON_FAILURE(round);
    Items items = random_items(rng, 2 + static_cast<int>(rng.below(12)), rng.below(2) == 0);
    for (double& cpu : items.cpu) cpu *= 0.5;
    const int nodes = 4 + static_cast<int>(rng.below(40));
    std::vector<std::vector<int>> pinned(items.tasks.size());
    std::vector<double> memory(nodes, 0.0);
    for (std::size_t i = 0; i < items.tasks.size() / 2; ++i) {
      std::vector<int> chosen;
      for (int k = 0; k < items.tasks[i]; ++k) {
        const int node = static_cast<int>(rng.below(nodes));
        if (memory[node] + items.memory[i] > 1) break;
        memory[node] += items.memory[i];
        chosen.push_back(node);
      }
      std::sort(chosen.begin(), chosen.end());
      if (static_cast<int>(chosen.size()) == items.tasks[i]) pinned[i] = chosen;
    }
    const auto expected = plain_mcb8(items.tasks, items.cpu, items.memory, nodes, pinned);
    EXPECT_EQ(fast_mcb8(items, nodes, pinned), expected);
    packed += !expected.empty();
  }
  EXPECT_GT(packed, 300);
  EXPECT_LT(packed, 1400);
}

// One Mcb8 for several targets, with few kinds of items, of which some are dropped on the way.
TEST(Mcb8, PlacementsEqualThePlainAlgorithmForItemsOfFewKinds) {
  Rng rng(6);
  int packed = 0;
  for (int round = 0; round < 600; ++round) {
    SHOW_ON_FAILURE(round);
    Items items = random_items(rng, 1 + static_cast<int>(rng.below(30)), true);
    for (double& cpu : items.cpu) cpu = 0.25 * static_cast<double>(rng.between(1, 4));
    for (double& memory : items.memory) memory = 0.1 * static_cast<double>(rng.between(1, 4));
    const int nodes = 1 + static_cast<int>(rng.below(80));
    const Kinds kinds = kinds_of(items.cpu);
    Mcb8 mcb8(items.tasks, items.memory, kinds.of, kinds.values.size(), nodes);
    std::vector<int> left(items.tasks.size());
    std::iota(left.begin(), left.end(), 0);
    for (int call = 0; call < 6 && !left.empty(); ++call) {
      SHOW_ON_FAILURE(call);
      const double yield = call == 0 ? 0 : rng.uniform();
      Items now;
      for (const int item : left) {
        now.tasks.push_back(items.tasks[item]);
        now.cpu.push_back(yield * items.cpu[item]);
        now.memory.push_back(items.memory[item]);
      }
      const auto expected = plain_mcb8(now.tasks, now.cpu, now.memory, nodes);
      std::vector<double> cpu = kinds.values;
      for (double& need : cpu) need *= yield;
      ASSERT_EQ(mcb8.pack(cpu, by_decreasing(cpu)), !expected.empty());
      packed += !expected.empty();
      if (!expected.empty()) {
        mcb8.keep();
        const auto found = vectors(mcb8.placement());
        for (std::size_t k = 0; k < left.size(); ++k) EXPECT_EQ(found[left[k]], expected[k]);
      }
      if (rng.below(2) == 0) continue;
      const auto gone = left.begin() + static_cast<std::ptrdiff_t>(rng.below(left.size()));
      mcb8.drop(*gone);
      left.erase(gone);
    }
  }
  EXPECT_GT(packed, 600);
  EXPECT_LT(packed, 2500);
}

TEST(Kinds, AreTheDistinctValuesWhetherFewOrMany) {
  Rng rng(7);
  for (const int distinct : {1, 5, 16, 17, 60}) {
    SHOW_ON_FAILURE(distinct);
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) values.push_back(0.1 * static_cast<double>(rng.below(distinct)));
    const Kinds kinds = kinds_of(values);
    EXPECT_TRUE(std::is_sorted(kinds.values.rbegin(), kinds.values.rend()));
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), kinds.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(kinds.values[kinds.of[i]], values[i]);
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return values[a] > values[b]; });
    EXPECT_EQ(by_decreasing(values), order);
    EXPECT_EQ(by_kind(kinds.of, kinds.values.size()), order);
  }
}

TEST(Mcb8, TenTimesATenthFits) {
  const Items items{{10, 10}, {0.1, 0.05}, {0.05, 0.1}};
  EXPECT_EQ(fast_mcb8(items, 2), plain_mcb8(items.tasks, items.cpu, items.memory, 2));
  EXPECT_FALSE(fast_mcb8({{10}, {0.1}, {0.1}}, 1).empty());
  EXPECT_TRUE(fast_mcb8({{11}, {0.1}, {0.1}}, 1).empty());
}

TEST(Mcb8, DroppedItemsAreNotPacked) {
  Mcb8 mcb8({1, 2, 1}, {0.6, 0.6, 0.3}, 2);
  const std::vector<double> cpu{0, 0, 0};
  EXPECT_FALSE(mcb8.pack(cpu, by_decreasing(cpu)));
  EXPECT_TRUE(mcb8.surely_too_much());  // three tasks above one half, two nodes
  mcb8.drop(1);
  EXPECT_FALSE(mcb8.surely_too_much());
  ASSERT_TRUE(mcb8.pack(cpu, by_decreasing(cpu)));
  mcb8.keep();
  EXPECT_EQ(mcb8.placement(), (std::vector<NodeList>{{0}, {}, {0}}));
}

TEST(Mcb8, WhatIsSurelyTooMuchCannotBePacked) {
  Rng rng(5);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    SHOW_ON_FAILURE(round);
    Items items = random_items(rng, 1 + static_cast<int>(rng.below(6)), true);
    std::fill(items.cpu.begin(), items.cpu.end(), 0.0);
    const int nodes = 1 + static_cast<int>(rng.below(30));
    if (!Mcb8(items.tasks, items.memory, nodes).surely_too_much()) continue;
    ++refused;
    EXPECT_TRUE(plain_mcb8(items.tasks, items.cpu, items.memory, nodes).empty());
  }
  EXPECT_GT(refused, 100);
}

TEST(BestTarget, BisectsTheYield) {
  // Two tasks of need 1 and little memory on one node: each gets one half.
  Mcb8 mcb8({2}, {0.2}, 1);
  const auto found = best_target(mcb8, yield_target({1.0}), kYieldAccuracy);
  ASSERT_TRUE(found);
  EXPECT_LE(*found, 0.5);
  EXPECT_GT(*found, 0.5 - 0.01);
  EXPECT_EQ(mcb8.placement(), (std::vector<NodeList>{{0, 0}}));
  Mcb8 light({1}, {0.2}, 1);
  EXPECT_EQ(best_target(light, yield_target({0.9}), kYieldAccuracy), 1);
  Mcb8 heavy({2}, {0.6}, 1);
  EXPECT_FALSE(best_target(heavy, yield_target({0.1}), kYieldAccuracy));
}

TEST(BestTarget, StretchTargetNeedsNoYieldAboveOne) {
  // Alone, but it waited 600 s: at the end of the period of 600 s its inverse stretch is at
  // most 600 / 1200.
  Mcb8 mcb8({1}, {0.2}, 1);
  const auto found =
      best_target(mcb8, stretch_target({1.0}, {600.0}, {0.0}, 600), kStretchAccuracy);
  ASSERT_TRUE(found);
  EXPECT_LE(*found, 0.5);
  EXPECT_GT(*found, 0.5 - 1e-4);
  // A job ahead of the target gets nothing.
  Requirements needs;
  Mcb8 two({1, 1}, {0.2, 0.2}, 1);
  ASSERT_TRUE(stretch_target({1, 1}, {600, 600}, {600, 0}, 600)(0.25, two, needs));
  EXPECT_EQ(needs.cpu, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(needs.by_cpu, (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace cosched::cluster::dfrs
