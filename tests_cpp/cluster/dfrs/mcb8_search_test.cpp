#include "cosched/cluster/dfrs/mcb8_search.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::dfrs {
namespace {

TEST(Mcb8Search, BisectsTheYield) {
  // Two tasks of need 1 and little memory on one node: each gets one half.
  Mcb8 mcb8({2}, {0.2}, 1);
  const auto target = find_best_target(mcb8, yield_target({1.0}), kYieldAccuracy);
  ASSERT_TRUE(target);
  EXPECT_LE(*target, 0.5);
  EXPECT_GT(*target, 0.5 - 0.01);
  EXPECT_EQ(mcb8.placement(), (std::vector<NodeList>{{0, 0}}));
  Mcb8 light({1}, {0.2}, 1);
  EXPECT_EQ(find_best_target(light, yield_target({0.9}), kYieldAccuracy), 1);
  Mcb8 heavy({2}, {0.6}, 1);
  EXPECT_FALSE(find_best_target(heavy, yield_target({0.1}), kYieldAccuracy));
}

TEST(Mcb8Search, StretchTargetNeedsNoYieldAboveOne) {
  // Alone, but it waited 600 s: at the end of the period of 600 s its inverse stretch is at
  // most 600 / 1200.
  Mcb8 mcb8({1}, {0.2}, 1);
  const auto target =
      find_best_target(mcb8, stretch_target({1.0}, {600.0}, {0.0}, 600), kStretchAccuracy);
  ASSERT_TRUE(target);
  EXPECT_LE(*target, 0.5);
  EXPECT_GT(*target, 0.5 - 1e-4);
  // A job ahead of the target gets nothing.
  CpuRequirements requirements;
  Mcb8 two({1, 1}, {0.2, 0.2}, 1);
  ASSERT_TRUE(stretch_target({1, 1}, {600, 600}, {600, 0}, 600)(0.25, two, requirements));
  EXPECT_EQ(requirements.cpu, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(requirements.kinds_by_cpu, (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace cosched::cluster::dfrs
