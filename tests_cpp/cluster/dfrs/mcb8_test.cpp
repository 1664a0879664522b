#include "cosched/cluster/dfrs/mcb8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "support/cluster_instances.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::dfrs {
namespace {

using testing::plain_mcb8;

struct PackingItems {
  std::vector<int> tasks;
  std::vector<double> cpu, memory;
};

PackingItems random_items(Rng& rng, int n, bool uses_tenths) {
  PackingItems items;
  for (int i = 0; i < n; ++i) {
    const auto draw = [&] {
      return uses_tenths ? 0.1 * static_cast<double>(rng.between(1, 10)) : 1 - rng.uniform();
    };
    items.tasks.push_back(1 + static_cast<int>(rng.below(rng.below(2) ? 3 : 20)));
    items.cpu.push_back(draw());
    items.memory.push_back(draw());
  }
  return items;
}

std::vector<std::vector<int>> to_vectors(const std::vector<NodeList>& lists) {
  std::vector<std::vector<int>> vectors;
  for (const NodeList& list : lists) vectors.emplace_back(list.begin(), list.end());
  return vectors;
}

std::vector<std::vector<int>> fast_mcb8(const PackingItems& items, int nodes,
                                        const std::vector<std::vector<int>>& pinned = {}) {
  Mcb8 mcb8(items.tasks, items.memory, nodes);
  for (std::size_t i = 0; i < pinned.size(); ++i)
    if (!pinned[i].empty()) mcb8.pin(static_cast<int>(i), pinned[i]);
  if (!mcb8.pack(items.cpu, sort_by_decreasing_value(items.cpu))) return {};
  mcb8.save_packing();
  return to_vectors(mcb8.placement());
}

TEST(Mcb8, PlacementsEqualThePlainAlgorithm) {
  Rng rng(3);
  int packed_rounds = 0;
  for (int round = 0; round < 1500; ++round) {
    SHOW_ON_FAILURE(round);
    PackingItems items = random_items(rng, 1 + static_cast<int>(rng.below(25)), rng.below(2) == 0);
    const double yield = rng.below(5) == 0 ? 0 : rng.uniform();
    for (double& cpu : items.cpu) cpu *= yield;
    const int nodes = 1 + static_cast<int>(rng.below(80));
    const auto expected = plain_mcb8(items.tasks, items.cpu, items.memory, nodes);
    EXPECT_EQ(fast_mcb8(items, nodes), expected);
    packed_rounds += !expected.empty();
  }
  EXPECT_GT(packed_rounds, 300);  // both outcomes are tested
  EXPECT_LT(packed_rounds, 1200);
}

TEST(Mcb8, PlacementsEqualThePlainAlgorithmWithPinnedTasks) {
  Rng rng(4);
  int packed_rounds = 0;
  for (int round = 0; round < 1500; ++round) {
    SHOW_ON_FAILURE(round);
    PackingItems items = random_items(rng, 2 + static_cast<int>(rng.below(12)), rng.below(2) == 0);
    for (double& cpu : items.cpu) cpu *= 0.5;
    const int nodes = 4 + static_cast<int>(rng.below(40));
    std::vector<std::vector<int>> pinned(items.tasks.size());
    std::vector<double> memory(nodes, 0.0);
    for (std::size_t i = 0; i < items.tasks.size() / 2; ++i) {
      std::vector<int> chosen_nodes;
      for (int k = 0; k < items.tasks[i]; ++k) {
        const int node = static_cast<int>(rng.below(nodes));
        if (memory[node] + items.memory[i] > 1) break;
        memory[node] += items.memory[i];
        chosen_nodes.push_back(node);
      }
      std::sort(chosen_nodes.begin(), chosen_nodes.end());
      if (static_cast<int>(chosen_nodes.size()) == items.tasks[i]) pinned[i] = chosen_nodes;
    }
    const auto expected = plain_mcb8(items.tasks, items.cpu, items.memory, nodes, pinned);
    EXPECT_EQ(fast_mcb8(items, nodes, pinned), expected);
    packed_rounds += !expected.empty();
  }
  EXPECT_GT(packed_rounds, 300);
  EXPECT_LT(packed_rounds, 1400);
}

// One Mcb8 for several targets, with few kinds of items, of which some are dropped on the way.
TEST(Mcb8, PlacementsEqualThePlainAlgorithmForItemsOfFewKinds) {
  Rng rng(6);
  int packed_rounds = 0;
  for (int round = 0; round < 600; ++round) {
    SHOW_ON_FAILURE(round);
    PackingItems items = random_items(rng, 1 + static_cast<int>(rng.below(30)), true);
    for (double& cpu : items.cpu) cpu = 0.25 * static_cast<double>(rng.between(1, 4));
    for (double& memory : items.memory) memory = 0.1 * static_cast<double>(rng.between(1, 4));
    const int nodes = 1 + static_cast<int>(rng.below(80));
    const ValueKinds kinds = find_value_kinds(items.cpu);
    Mcb8 mcb8(items.tasks, items.memory, kinds.kind_of, kinds.values.size(), nodes);
    std::vector<int> remaining_items(items.tasks.size());
    std::iota(remaining_items.begin(), remaining_items.end(), 0);
    for (int call = 0; call < 6 && !remaining_items.empty(); ++call) {
      SHOW_ON_FAILURE(call);
      const double yield = call == 0 ? 0 : rng.uniform();
      PackingItems current_items;
      for (const int item : remaining_items) {
        current_items.tasks.push_back(items.tasks[item]);
        current_items.cpu.push_back(yield * items.cpu[item]);
        current_items.memory.push_back(items.memory[item]);
      }
      const auto expected =
          plain_mcb8(current_items.tasks, current_items.cpu, current_items.memory, nodes);
      std::vector<double> cpu = kinds.values;
      for (double& need : cpu) need *= yield;
      ASSERT_EQ(mcb8.pack(cpu, sort_by_decreasing_value(cpu)), !expected.empty());
      packed_rounds += !expected.empty();
      if (!expected.empty()) {
        mcb8.save_packing();
        const auto placement = to_vectors(mcb8.placement());
        for (std::size_t k = 0; k < remaining_items.size(); ++k)
          EXPECT_EQ(placement[remaining_items[k]], expected[k]);
      }
      if (rng.below(2) == 0) continue;
      const auto dropped_item =
          remaining_items.begin() + static_cast<std::ptrdiff_t>(rng.below(remaining_items.size()));
      mcb8.drop(*dropped_item);
      remaining_items.erase(dropped_item);
    }
  }
  EXPECT_GT(packed_rounds, 600);
  EXPECT_LT(packed_rounds, 2500);
}

TEST(Mcb8, TenTimesATenthFits) {
  const PackingItems items{{10, 10}, {0.1, 0.05}, {0.05, 0.1}};
  EXPECT_EQ(fast_mcb8(items, 2), plain_mcb8(items.tasks, items.cpu, items.memory, 2));
  EXPECT_FALSE(fast_mcb8({{10}, {0.1}, {0.1}}, 1).empty());
  EXPECT_TRUE(fast_mcb8({{11}, {0.1}, {0.1}}, 1).empty());
}

TEST(Mcb8, DroppedItemsAreNotPacked) {
  Mcb8 mcb8({1, 2, 1}, {0.6, 0.6, 0.3}, 2);
  const std::vector<double> cpu{0, 0, 0};
  EXPECT_FALSE(mcb8.pack(cpu, sort_by_decreasing_value(cpu)));
  EXPECT_TRUE(mcb8.has_too_much_memory());  // three tasks above one half, two nodes
  mcb8.drop(1);
  EXPECT_FALSE(mcb8.has_too_much_memory());
  ASSERT_TRUE(mcb8.pack(cpu, sort_by_decreasing_value(cpu)));
  mcb8.save_packing();
  EXPECT_EQ(mcb8.placement(), (std::vector<NodeList>{{0}, {}, {0}}));
}

TEST(Mcb8, ItemsWithTooMuchMemoryCannotBePacked) {
  Rng rng(5);
  int rejected_rounds = 0;
  for (int round = 0; round < 3000; ++round) {
    SHOW_ON_FAILURE(round);
    PackingItems items = random_items(rng, 1 + static_cast<int>(rng.below(6)), true);
    std::fill(items.cpu.begin(), items.cpu.end(), 0.0);
    const int nodes = 1 + static_cast<int>(rng.below(30));
    if (!Mcb8(items.tasks, items.memory, nodes).has_too_much_memory()) continue;
    ++rejected_rounds;
    EXPECT_TRUE(plain_mcb8(items.tasks, items.cpu, items.memory, nodes).empty());
  }
  EXPECT_GT(rejected_rounds, 100);
}

}  // namespace
}  // namespace cosched::cluster::dfrs
