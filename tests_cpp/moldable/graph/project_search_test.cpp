#include "cosched/moldable/graph/project_search.hpp"

#include <gtest/gtest.h>

#include "support/projects.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr std::int64_t kAmpleWork = 10'000'000'000;

// Whether a schedule keeps releases, edges and capacities.
bool is_feasible(const Instance& instance, const Placement& placement) {
  for (int i = 0; i < instance.jobs(); ++i) {
    if (placement.start[i] < instance.release(i)) return false;
    if (placement.end[i] != placement.start[i] + instance.exact_time(i, placement.procs[i]))
      return false;
    for (const int k : instance.graph()->successors(i))
      if (placement.start[k] < placement.end[i]) return false;
    double procs = 0;
    std::vector<double> used(instance.sharing()->resources());
    for (int k = 0; k < instance.jobs(); ++k) {
      if (placement.start[k] > placement.start[i] || placement.end[k] <= placement.start[i])
        continue;
      procs += placement.procs[k];
      for (int r = 0; r < instance.sharing()->resources(); ++r)
        used[r] += instance.sharing()->need(r, k, placement.procs[k]);
    }
    if (procs > instance.machines()) return false;
    for (int r = 0; r < instance.sharing()->resources(); ++r)
      if (used[r] > instance.sharing()->capacity(r)) return false;
  }
  return true;
}

TEST(ProjectSearch, FindsTheOptimumAndProvesIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project(
        {.jobs = 5 + static_cast<int>(seed % 3), .machines = 3, .edge_share = seed % 4 * 0.1},
        seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    const auto search = ProjectSearch::make(instance, 0, kInfinity);
    ASSERT_NE(search, nullptr);
    search->improve(kAmpleWork);
    ASSERT_TRUE(search->is_closed()) << seed;
    EXPECT_EQ(search->bound(), optimum) << seed;
    ASSERT_TRUE(search->placement().has_value());
    EXPECT_EQ(makespan(*search->placement()), optimum) << seed;
    EXPECT_TRUE(is_feasible(instance, *search->placement())) << seed;
  }
}

TEST(ProjectSearch, HoldsAtEachStep) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project({.jobs = 16, .machines = 4}, seed);
    const auto enough = ProjectSearch::make(instance, 0, kInfinity);
    enough->improve(kAmpleWork);
    ASSERT_TRUE(enough->is_closed());
    const auto search = ProjectSearch::make(instance, 0, kInfinity);
    double bound = 0;
    for (int step = 0; step < 50 && !search->is_closed(); ++step) {
      search->improve(20'000);
      EXPECT_GE(search->bound(), bound);
      bound = search->bound();
      EXPECT_LE(bound, enough->bound()) << seed;
      if (!search->placement()) continue;
      EXPECT_TRUE(is_feasible(instance, *search->placement())) << seed;
      EXPECT_GE(makespan(*search->placement()), enough->bound()) << seed;
    }
  }
}

TEST(ProjectSearch, LooksOnlyForWhatIsBetterThanKnown) {
  const Instance instance = random_project({}, 1);
  const double optimum = ProjectEnumeration(instance).least_makespan();
  const auto search = ProjectSearch::make(instance, 0, optimum);
  search->improve(kAmpleWork);
  EXPECT_TRUE(search->is_closed());
  EXPECT_EQ(search->bound(), optimum);
  EXPECT_FALSE(search->placement().has_value());
}

TEST(ProjectSearch, IsClosedByABoundOfTheCallers) {
  const Instance instance = random_project({.jobs = 40, .machines = 4}, 1);
  const auto search = ProjectSearch::make(instance, 0, 100);
  search->raise_bound(99.5);
  EXPECT_TRUE(search->is_closed());
  EXPECT_EQ(search->bound(), 100);
}

TEST(ProjectSearch, LeavesWhatDoesNotSuitIt) {
  EXPECT_EQ(ProjectSearch::make(random_project({.counts = 2}, 1), 0, kInfinity), nullptr);
  EXPECT_EQ(ProjectSearch::make(random_project({.has_integers = false}, 1), 0, kInfinity), nullptr);
  EXPECT_EQ(ProjectSearch::make(random_project({.jobs = kMaxProjectJobs + 1}, 1), 0, kInfinity),
            nullptr);
}

}  // namespace
}  // namespace cosched::moldable::graph
