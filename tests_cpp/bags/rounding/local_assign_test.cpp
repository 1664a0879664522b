#include "cosched/bags/rounding/local_assign.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "support/show_bags.hpp"

namespace cosched::bags {
namespace {

// Longest processing time first, a task at a time.
std::vector<std::int64_t> one_by_one(std::vector<double> loads, std::int64_t count, double length) {
  const std::vector<double> before = loads;
  std::vector<std::int64_t> counts(loads.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    const auto k = std::min_element(loads.begin(), loads.end()) - loads.begin();
    ++counts[k];
    loads[k] = before[k] + static_cast<double>(counts[k]) * length;
  }
  return counts;
}

TEST(WaterLevel, LeavesFullMachinesOut) {
  EXPECT_DOUBLE_EQ(rounding::water_level({10, 0, 0}, 4), 2);
  EXPECT_DOUBLE_EQ(rounding::water_level({10, 0, 0}, 40), 50.0 / 3);
  EXPECT_DOUBLE_EQ(rounding::water_level({5, 3, 0}, 1), 1);
  EXPECT_DOUBLE_EQ(rounding::water_level({2, 2}, 0), 2);
  EXPECT_DOUBLE_EQ(rounding::water_level({7}, 3), 10);
}

TEST(Spread, IsTheWaterLevelNotTheMean) {
  std::vector<double> loads{10, 0, 0};
  EXPECT_EQ(rounding::spread_by_lpt(loads, 4, 1), (std::vector<std::int64_t>{0, 2, 2}));
  EXPECT_EQ(loads, (std::vector<double>{10, 2, 2}));
}

TEST(Spread, EqualsLptOnRandomLoads) {
  Rng rng(1);
  for (int round = 0; round < 20000; ++round) {
    SHOW_ON_FAILURE(round);
    const bool integers = round % 2 == 0;
    const int machines = static_cast<int>(rng.between(1, 12));
    std::vector<double> loads;
    for (int k = 0; k < machines; ++k)
      loads.push_back(round % 5 == 0 ? 0
                      : integers     ? static_cast<double>(rng.between(0, 30))
                                     : 30 * rng.uniform());
    const double length = integers ? static_cast<double>(rng.between(1, 9)) : 9 * rng.uniform();
    const std::int64_t count = rng.between(0, 60);
    const auto expected = one_by_one(loads, count, length);
    const auto before = loads;
    ASSERT_EQ(rounding::spread_by_lpt(loads, count, length), expected) << "round " << round;
    for (int k = 0; k < machines; ++k)
      ASSERT_EQ(loads[k], before[k] + static_cast<double>(expected[k]) * length);
  }
}

TEST(Spread, ManyTasksAtOnce) {
  std::vector<double> loads{0.5, 0, 3};
  const auto counts = rounding::spread_by_lpt(loads, 3'000'000'000'000, 0.25);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 3'000'000'000'000);
  const auto [low, high] = std::minmax_element(loads.begin(), loads.end());
  EXPECT_LE(*high - *low, 0.25);
}

TEST(AssignLocally, EqualsLptOfAllTypes) {
  Rng rng(2);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    const int types = static_cast<int>(rng.between(1, 6));
    Table etc(types, 1), apc = Table(types, 1, 1);
    std::vector<std::int64_t> counts;
    for (int i = 0; i < types; ++i) {
      etc(i, 0) = round % 2 == 0 ? static_cast<double>(rng.between(1, 6)) : 6 * rng.uniform();
      counts.push_back(rng.between(1, 25));
    }
    const Instance instance(counts, {rng.between(1, 7)}, etc, apc, 1, 1);
    SHOW_ON_FAILURE(instance);
    std::vector<double> expected(instance.machines(0), 0);
    for (const int i : rounding::order_by_longest(instance, 0)) {
      const auto spread_counts = one_by_one(expected, counts[i], etc(i, 0));
      for (std::size_t k = 0; k < expected.size(); ++k)
        expected[k] += static_cast<double>(spread_counts[k]) * etc(i, 0);
    }
    EXPECT_EQ(rounding::assign_locally(instance, 0, counts, [](int, const auto&) {}), expected);
  }
}

}  // namespace
}  // namespace cosched::bags
