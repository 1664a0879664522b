#include "cosched/opt/knapsack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cosched/core/rng.hpp"
#include "cosched/opt/cardinality_knapsack.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::opt {
namespace {

struct Case {
  std::vector<double> profit;
  std::vector<int> size;
  int capacity;
};

double value(const Case& problem, const std::vector<int>& chosen) {
  double sum = 0;
  int used = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    EXPECT_TRUE(k == 0 || chosen[k - 1] < chosen[k]);
    sum += problem.profit[chosen[k]];
    used += problem.size[chosen[k]];
  }
  EXPECT_LE(used, problem.capacity);
  return sum;
}

double exhaustive(const Case& problem) {
  const int n = static_cast<int>(problem.profit.size());
  double best = 0;
  for (int set = 0; set < 1 << n; ++set) {
    double sum = 0;
    int used = 0;
    for (int k = 0; k < n; ++k)
      if (set >> k & 1) sum += problem.profit[k], used += problem.size[k];
    if (used <= problem.capacity) best = std::max(best, sum);
  }
  return best;
}

// By the plain recursion over capacities.
double by_capacity(const Case& problem) {
  std::vector<double> best(problem.capacity + 1, 0);
  for (std::size_t k = 0; k < problem.size.size(); ++k)
    for (int c = problem.capacity; c >= problem.size[k]; --c)
      best[c] = std::max(best[c], best[c - problem.size[k]] + problem.profit[k]);
  return best.back();
}

// Kinds: independent, proportional to the size, size plus a constant, few distinct values.
Case random_case(int kind, int n, int capacity, Rng& rng) {
  Case problem{{}, {}, capacity};
  for (int k = 0; k < n; ++k) {
    const int s = static_cast<int>(rng.between(1, std::max(1, capacity)));
    problem.size.push_back(s);
    const double p = kind == 0   ? rng.uniform() - 0.1
                     : kind == 1 ? 0.1 * s
                     : kind == 2 ? s + 3.0
                                 : static_cast<double>(rng.between(0, 2));
    problem.profit.push_back(p);
  }
  return problem;
}

TEST(Knapsack, EqualsExhaustiveSearch) {
  Rng rng(1);
  for (int kind = 0; kind < 4; ++kind)
    for (int n = 0; n <= 12; ++n)
      for (const int capacity : {0, 1, 5, 17}) {
        const Case problem = random_case(kind, n, capacity, rng);
        SHOW_ON_FAILURE(problem.profit);
        SHOW_ON_FAILURE(problem.size);
        SHOW_ON_FAILURE(capacity);
        const double best = exhaustive(problem);
        EXPECT_NEAR(value(problem, knapsack(problem.profit, problem.size, capacity)), best, 1e-12);
      }
}

TEST(Knapsack, EqualsTheProgrammeOverCapacities) {
  Rng rng(2);
  for (int kind = 0; kind < 4; ++kind)
    for (const int n : {30, 100, 400})
      for (const int capacity : {10, 100, 333}) {
        const Case problem = random_case(kind, n, capacity, rng);
        SHOW_ON_FAILURE(problem.profit);
        SHOW_ON_FAILURE(problem.size);
        SHOW_ON_FAILURE(capacity);
        EXPECT_NEAR(value(problem, knapsack(problem.profit, problem.size, capacity)),
                    by_capacity(problem), 1e-9);
      }
}

TEST(Knapsack, TakesTheLowestOfEqualItems) {
  EXPECT_EQ(knapsack({1, 1, 1, 1}, {2, 2, 2, 2}, 5), (std::vector<int>{0, 1}));
  EXPECT_TRUE(knapsack({0, -1}, {1, 1}, 5).empty());
  EXPECT_TRUE(knapsack({3}, {6}, 5).empty());
}

}  // namespace
}  // namespace cosched::opt
