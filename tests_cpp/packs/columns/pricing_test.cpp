#include "cosched/packs/columns/pricing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/packs_instances.hpp"
#include "support/packs_plain.hpp"
#include "support/show_packs.hpp"

namespace cosched::packs {
namespace {

using namespace cosched::packs::testing;  // NOLINT

columns::Prices random_prices(const columns::Restrictions& restrictions, int tasks, Rng& rng) {
  columns::Prices prices;
  for (int i = 0; i < tasks; ++i) prices.task.push_back(rng.below(5) ? rng.uniform() : 0);
  for (const columns::CountRow& row : restrictions.counts)
    prices.count.push_back(rng.uniform() * (row.at_least ? 1 : -1));
  return prices;
}

columns::Restrictions random_restrictions(const Times& times, int round, Rng& rng) {
  const auto some_time = [&] {
    const int i = static_cast<int>(rng.below(times.tasks()));
    return times(i, static_cast<int>(rng.between(times.fewest(i), times.procs())));
  };
  columns::Restrictions restrictions;
  for (int r = 0; r < round % 4; ++r)
    restrictions.counts.push_back({some_time(), 1, rng.below(2) == 0});
  if (round % 2 == 0) return restrictions;
  for (int i = 0; i < times.tasks(); ++i) {
    const double a = some_time(), b = some_time();
    restrictions.least_length.push_back(rng.below(2) ? 0 : std::min(a, b));
    restrictions.below_length.push_back(rng.below(2) ? kInfinity : std::max(a, b));
  }
  return restrictions;
}

double worth(const columns::PackColumn& column, const columns::Prices& prices,
             const columns::Restrictions& restrictions) {
  double sum = 0;
  for (const int i : column.tasks) sum += prices.task[i];
  for (std::size_t r = 0; r < restrictions.counts.size(); ++r)
    if (column.length >= restrictions.counts[r].length) sum += prices.count[r];
  return sum;
}

bool feasible(const Times& times, const columns::PackColumn& column, int k,
              const columns::Restrictions& restrictions) {
  int asked = 0;
  for (const int i : column.tasks) {
    if (!restrictions.is_allowed(i, column.length)) return false;
    asked += need(times, i, column.length);
  }
  return asked <= times.procs() && static_cast<int>(column.tasks.size()) <= k;
}

// Greatest worth / length of feasible packs: of those as long as one of their tasks, and of those
// as long as any task that may be in them, or as an "at least" row.
struct Best {
  double own_ratio = 0, any = 0;
};

Best best_ratios(const Times& times, int k, const columns::Prices& prices,
                 const columns::Restrictions& restrictions) {
  std::vector<std::pair<double, int>> lengths;  // with the task, -1 for a row
  for (const columns::CountRow& row : restrictions.counts)
    if (row.at_least) lengths.emplace_back(row.length, -1);
  for (int i = 0; i < times.tasks(); ++i)
    for (int q = times.fewest(i); q <= times.procs(); ++q)
      if (restrictions.is_allowed(i, times(i, q))) lengths.emplace_back(times(i, q), i);
  Best best;
  for (int set = 0; set < 1 << times.tasks(); ++set) {
    columns::PackColumn column;
    for (int i = 0; i < times.tasks(); ++i)
      if (set >> i & 1) column.tasks.push_back(i);
    for (const auto& [length, task] : lengths) {
      column.length = length;
      if (!feasible(times, column, k, restrictions)) continue;
      const double ratio = worth(column, prices, restrictions) / length;
      best.any = std::max(best.any, ratio);
      if (task >= 0 && set >> task & 1) best.own_ratio = std::max(best.own_ratio, ratio);
    }
  }
  return best;
}

TEST(Pricing, FindsTheBestPackUnderEveryRestriction) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const Times times(small_table(round % kTableKinds, 5, 4, round));
    const int k = 1 + round % 4;
    const columns::Restrictions restrictions = random_restrictions(times, round, rng);
    const columns::Prices prices = random_prices(restrictions, 5, rng);
    const auto [own_ratio, best] = best_ratios(times, k, prices, restrictions);
    columns::Pricing pricing(times, k);
    columns::Pricing::SweepOptions exact;
    exact.threshold = exact.least_worth = 1e-6;  // everything is of interest
    std::vector<columns::PackColumn> columns;
    const double bound = pricing.sweep(prices, restrictions, exact, columns);
    EXPECT_GE(bound, own_ratio);
    EXPECT_LE(bound, std::max(best, exact.threshold) * (1 + 1e-12)) << "round " << round;
    double best_found = 0;
    for (const columns::PackColumn& column : columns) {
      EXPECT_TRUE(feasible(times, column, k, restrictions));
      best_found = std::max(best_found, worth(column, prices, restrictions) / column.length);
    }
    EXPECT_GE(best_found, own_ratio * (1 - 1e-12));
    for (const double resolution : {0.01, 0.2}) {
      columns::Pricing::SweepOptions coarse;
      coarse.threshold = coarse.least_worth = 0.8 * best + 1e-9;
      coarse.resolution = resolution;
      const double above = pricing.sweep(prices, restrictions, coarse, columns);
      EXPECT_GE(above, own_ratio);
      EXPECT_LE(above, std::max(best / (1 - resolution), coarse.threshold) * (1 + 1e-12));
    }
  }
}

// Task 0 must be in a pack of at least 4 seconds: only task 1, of no price, makes one.
TEST(Pricing, ATaskOfNoPriceMayMakeThePackLong) {
  Table table{{1, 1}, {5, 5}};
  const Times times(table);
  columns::Restrictions restrictions;
  restrictions.least_length = {4, 0};
  restrictions.below_length = {kInfinity, kInfinity};
  columns::Pricing::SweepOptions options;
  options.threshold = options.least_worth = 1e-6;
  std::vector<columns::PackColumn> columns;
  columns::Pricing pricing(times, 2);
  EXPECT_NEAR(pricing.sweep({{1, 0}, {}}, restrictions, options, columns), 1.0 / 5, 1e-12);
}

}  // namespace
}  // namespace cosched::packs
