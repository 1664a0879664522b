#include "cosched/moldable/graph/destructive.hpp"

#include <gtest/gtest.h>

#include "cosched/moldable/graph/heads_and_tails.hpp"
#include "support/projects.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr double kUnlimited = 1e300;
constexpr std::int64_t kEnoughWork = 10'000'000'000;

double bound_of(const Instance& instance, double high, std::int64_t work) {
  return destructive_bound(instance, 0, high, work, std::nullopt).value;
}

TEST(Destructive, IsTheOptimumOfJobsOnOneCount) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        random_project({.machines = seed % 2 == 0 ? 2 : 6, .edge_share = seed % 5 * 0.1}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    EXPECT_EQ(bound_of(instance, optimum, kEnoughWork), optimum) << seed;
    EXPECT_EQ(bound_of(instance, kInfinity, kEnoughWork), optimum) << seed;
    EXPECT_LE(bound_of(instance, optimum, 0), optimum) << seed;
  }
}

TEST(Destructive, IsCloseToTheOptimumWhereTimesAreNoIntegers) {
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project({.jobs = 5, .has_integers = false}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    const double bound = bound_of(instance, optimum, 100'000'000);
    EXPECT_LE(bound, optimum * (1 + 1e-9)) << seed;
    exact += bound >= optimum * (1 - 2e-6);
  }
  EXPECT_GE(exact, 57);
}

TEST(Destructive, HoldsWhereJobsChooseTheirCounts) {
  double sum = 0;
  int instances = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project(
        {.jobs = 4, .machines = 3, .counts = 3, .has_integers = seed % 2 == 0}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    const double bound = bound_of(instance, optimum, 10'000'000);
    EXPECT_LE(bound, optimum * (1 + 1e-9)) << seed;
    sum += bound / optimum;
    ++instances;
  }
  EXPECT_GE(sum / instances, 0.85);
}

TEST(Destructive, SearchesWhereOnlyOneJobChoosesItsCount) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        random_project({.jobs = 5, .machines = 3, .counts = 2, .jobs_of_one_count = 4}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    const double bound = bound_of(instance, kInfinity, 10'000'000);
    EXPECT_LE(bound, optimum) << seed;
    sum += bound / optimum;
  }
  EXPECT_GE(sum / 80, 0.95);
}

TEST(Destructive, GivesTheScheduleOfItsSearch) {
  const Instance instance = random_project({}, 1);
  const double optimum = ProjectEnumeration(instance).least_makespan();
  const DestructiveResult result =
      destructive_bound(instance, 0, kInfinity, kEnoughWork, std::nullopt);
  ASSERT_TRUE(result.placement.has_value());
  EXPECT_EQ(makespan(*result.placement), optimum);
}

TEST(Destructive, RefutesWhateverHeadsAndTailsRefute) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        random_project({.jobs = 12, .machines = 4, .counts = 2, .has_integers = false}, seed);
    EXPECT_GE(bound_of(instance, kInfinity, 0), heads_and_tails(instance, 0) * (1 - 2e-6)) << seed;
  }
}

TEST(Destructive, KeepsWhatItKnowsAtATimeLimit) {
  const Instance instance = random_project({.jobs = 40, .machines = 40}, 1);
  const DestructiveResult cut = destructive_bound(instance, 7, kUnlimited, kEnoughWork, 0.0);
  EXPECT_FALSE(cut.complete);
  EXPECT_GE(cut.value, 7);
  EXPECT_LE(cut.value, bound_of(instance, kInfinity, 0));
}

TEST(Destructive, LeavesInstancesThatAreTooLargeAsTheyAre) {
  const Instance instance = random_project({.jobs = kMostDestructiveJobs + 1}, 1);
  const DestructiveResult untouched =
      destructive_bound(instance, 3, kUnlimited, kEnoughWork, std::nullopt);
  EXPECT_EQ(untouched.value, 3);
  EXPECT_TRUE(untouched.complete);
}

}  // namespace
}  // namespace cosched::moldable::graph
