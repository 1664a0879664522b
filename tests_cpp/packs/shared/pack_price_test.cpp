#include "cosched/packs/shared/pack_price.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "cosched/packs/shared/exact_cover.hpp"
#include "cosched/packs/shared/optimal.hpp"

namespace cosched::packs::shared {
namespace {

Instance drawn(std::uint64_t seed, int tasks, int procs, int max_tasks) {
  Rng rng(seed);
  Table times(tasks, procs);
  Matrix<double> slow(tasks, tasks, 1), need(tasks, procs), demand(tasks, procs);
  std::vector<double> stall;
  for (int i = 0; i < tasks; ++i) {
    const double work = 1 + 9 * rng.uniform(), serial = 0.4 * rng.uniform();
    for (int q = 1; q <= procs; ++q) {
      times(i, q - 1) = work * (serial + (1 - serial) / q);
      need(i, q - 1) = 1 + 4 * rng.uniform();
      demand(i, q - 1) = std::min(6.0, q * 3 * rng.uniform());
    }
    for (int j = 0; j < tasks; ++j) slow(i, j) = 1 + rng.uniform();
    stall.push_back(rng.uniform());
  }
  const auto rule = static_cast<SlowdownRule>(seed % 3);
  return Instance(
      Times(times), max_tasks,
      std::make_shared<const Sharing>(tasks, std::vector<Resource>{{"memory", 8, need}},
                                      Slowdowns{slow, rule}, Bandwidth{demand, 6, stall}));
}

TEST(PackPricer, ExactIsTheBestOfAllCounts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Instance instance = drawn(seed, 3, 5, 3);
    double least = kInfinity;
    for (int a = 1; a <= 5; ++a)
      for (int b = 1; a + b <= 5; ++b)
        for (int c = 1; a + b + c <= 5; ++c) {
          const std::vector<cosched::Run> pack = as_pack(instance, {0, 1, 2}, {a, b, c});
          if (!instance.sharing()->fits(pack)) continue;
          const std::vector<double> ends = instance.sharing()->ends(pack);
          least = std::min(least, *std::max_element(ends.begin(), ends.end()));
        }
    PackPricer pricer(instance);
    const Price exact = pricer.exact({0, 1, 2}), quick = pricer.quick({0, 1, 2});
    EXPECT_TRUE(close(exact.cost, least)) << seed;
    EXPECT_TRUE(leq(exact.cost, quick.cost));
    EXPECT_TRUE(leq(pricer.lower({0, 1, 2}), least));
    EXPECT_EQ(pricer.exact({0, 1, 2}, least * (1 - 1e-6)).cost, kInfinity);  // none is below
  }
}

TEST(Shared, PairsAndSubsetsAgree) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Instance instance = drawn(seed, 9, 5, 2);
    const ExactResult best = optimal(instance, std::nullopt);
    EXPECT_TRUE(best.proved);
    EXPECT_TRUE(close(best.coschedule.cost, pairs(instance).cost));
    EXPECT_TRUE(leq(bound(instance, std::nullopt).value, best.coschedule.cost));
  }
}

TEST(ExactCover, FindsTheCheapest) {
  const std::vector<SetRelaxation::Column> columns{
      {{0, 1}, 0.3}, {{2}, 0.1}, {{0}, 0.1}, {{1, 2}, 0.2}, {{1}, 0.5}};
  const CoverSearch found = cheapest_cover(3, columns, 1, 1000);
  ASSERT_TRUE(found.packs.has_value());
  EXPECT_NEAR(found.sum, 0.3, 1e-15);
  EXPECT_FALSE(cheapest_cover(3, columns, 0.25, 1000).packs.has_value());
}

}  // namespace
}  // namespace cosched::packs::shared
