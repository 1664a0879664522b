#include "cosched/opt/cardinality_knapsack.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "cosched/opt/knapsack.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

std::vector<KnapsackItem> random_items(int count, int most_weight, Rng& rng) {
  std::vector<KnapsackItem> items;
  for (int k = 0; k < count; ++k)
    items.push_back({static_cast<int>(rng.between(0, most_weight)), 1 + rng.uniform()});
  return items;
}

double best_choice(const std::vector<KnapsackItem>& items, int capacity, int limit) {
  double best = 0;
  for (int set = 0; set < 1 << items.size(); ++set) {
    if (__builtin_popcount(set) > limit) continue;
    int weight = 0;
    double value = 0;
    for (std::size_t k = 0; k < items.size(); ++k)
      if (set >> k & 1) {
        weight += items[k].weight;
        value += items[k].value;
      }
    if (weight <= capacity) best = std::max(best, value);
  }
  return best;
}

double value_of(const std::vector<KnapsackItem>& items, const std::vector<int>& chosen,
                int capacity, int limit) {
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_LE(static_cast<int>(chosen.size()), limit);
  int weight = 0;
  double value = 0;
  for (const int k : chosen) {
    weight += items[k].weight;
    value += items[k].value;
  }
  EXPECT_LE(weight, capacity);
  return value;
}

TEST(CardinalityKnapsack, EqualsEveryChoice) {
  Rng rng(1);
  CardinalityKnapsack knapsack;  // one for all: memory is kept between calls
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const auto items = random_items(static_cast<int>(rng.between(0, 9)), 8, rng);
    const int capacity = static_cast<int>(rng.between(0, 20)), limit = 1 + round % 5;
    const double best = best_choice(items, capacity, limit);
    EXPECT_NEAR(knapsack.solve(items, capacity, limit, 0), best, 1e-12);
    EXPECT_NEAR(value_of(items, knapsack.chosen(), capacity, limit), best, 1e-12);
  }
}

TEST(CardinalityKnapsack, StopsWhereNothingIsWorthIt) {
  Rng rng(2);
  CardinalityKnapsack knapsack;
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const auto items = random_items(8, 6, rng);
    const double best = best_choice(items, 12, 3), worth = best * (0.5 + rng.uniform());
    const double bound = knapsack.solve(items, 12, 3, worth);
    EXPECT_GE(bound, best * (1 - 1e-12));
    if (knapsack.chosen().empty()) {
      EXPECT_LE(bound, worth);
    } else {
      EXPECT_NEAR(value_of(items, knapsack.chosen(), 12, 3), bound, 1e-12);
    }
  }
}

// Too large for the table: a multiplier's bound, and a choice that keeps the limit.
TEST(CardinalityKnapsack, BoundsLargeProblems) {
  Rng rng(3);
  CardinalityKnapsack knapsack;
  const auto items = random_items(400, 40, rng);
  const int capacity = 2000, limit = 60;
  const double bound = knapsack.solve(items, capacity, limit, 0);
  const double value = value_of(items, knapsack.chosen(), capacity, limit);
  EXPECT_GE(bound, value);
  EXPECT_LE(bound, value * 1.05);
  std::vector<double> values;  // the limit alone
  for (const auto& item : items) values.push_back(item.value);
  std::sort(values.rbegin(), values.rend());
  double largest_value = 0;
  for (int k = 0; k < limit; ++k) largest_value += values[k];
  EXPECT_LE(bound, largest_value * 1.05);
}

}  // namespace
}  // namespace cosched::opt
