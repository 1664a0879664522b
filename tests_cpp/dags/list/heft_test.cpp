// HEFT against its plain definition, with and without data, and the worst case of the paper.
#include "cosched/dags/list/heft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(Heft, EqualsThePlainDefinition) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 4;
    options.density = round % 5 * 0.1;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    plain::expect_valid(instance, plan);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

TEST(Heft, InsertsIntoGapsEvenWithZeroTimes) {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 4;
    options.density = round % 3 * 0.1;
    options.integers = true;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    plain::expect_valid(instance, plan);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

TEST(Heft, ReachesTheoremOne) {
  for (const auto& [m, k] : {std::pair(4, 2), {9, 3}, {16, 4}, {25, 1}, {36, 6}}) {
    const Plan plan = list::heft(graphs::theorem1(m, k));
    const double expected =
        static_cast<double>(m) / k * (1 - std::pow(static_cast<double>(m) / (m + k), m));
    EXPECT_NEAR(plan.makespan(), expected, 1e-9 * expected) << m << ", " << k;
  }
}

TEST(Heft, EqualsThePlainDefinitionWithData) {
  Rng rng(83);
  for (int round = 0; round < 400; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random_with_transfers(rng, round);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

}  // namespace
}  // namespace cosched::dags
