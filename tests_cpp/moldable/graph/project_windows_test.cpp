#include "cosched/moldable/graph/project_windows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/projects.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr std::int64_t kUnlimitedWork = std::numeric_limits<std::int64_t>::max();

TEST(ProjectWindows, KeepTheStartsOfAnOptimalSchedule) {
  int raised = 0, ordered = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project({.machines = seed % 2 == 0 ? 2 : 6,
                                              .counts = seed % 3 == 0 ? 2 : 1,
                                              .has_integers = seed % 5 > 0},
                                             seed);
    ProjectEnumeration enumeration(instance);
    const double optimum = enumeration.least_makespan();
    for (const bool with_energy : {false, true}) {
      ProjectWindows propagation(instance);
      Windows windows = propagation.initial_windows(optimum);
      const Windows untouched = windows;
      propagation.allow_work(kUnlimitedWork);
      ASSERT_TRUE(propagation.shrink(windows, with_energy)) << seed;
      for (int i = 0; i < instance.jobs(); ++i) {
        const double start = enumeration.best_starts()[i];
        EXPECT_GE(start, windows.earliest_start[i] - 1e-6) << seed << ", job " << i;
        EXPECT_LE(start + instance.least_time(i), windows.latest_end[i] + 1e-6)
            << seed << ", job " << i;
        raised += windows.earliest_start[i] > untouched.earliest_start[i];
      }
      for (const auto& [i, k] : propagation.conflicts()) {
        const bool is_first = enumeration.best_starts()[i] < enumeration.best_starts()[k];
        if (!propagation.has_order(windows, i, k)) continue;
        ++ordered;
        EXPECT_TRUE(windows.is_before[is_first ? i * instance.jobs() + k : k * instance.jobs() + i])
            << seed << ": " << i << ", " << k;
      }
    }
  }
  EXPECT_GT(raised, 300);
  EXPECT_GT(ordered, 100);
}

TEST(ProjectWindows, RefuteWhatIsFarBelowTheOptimum) {
  int refuted = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project({}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    ProjectWindows propagation(instance);
    Windows windows = propagation.initial_windows(std::floor(0.8 * optimum));
    propagation.allow_work(kUnlimitedWork);
    refuted += !propagation.shrink(windows, true);
  }
  EXPECT_GE(refuted, 50);
}

TEST(ProjectWindows, EnergyRefutesWhatTimetablesDoNot) {
  // Seven jobs of a second on two processors: none surely runs at a moment of three seconds.
  const Instance instance(Times(Table(7, 1, 1.0)), std::vector<double>(7, 1.0), {}, 2);
  ProjectWindows propagation(instance);
  for (const bool with_energy : {false, true}) {
    Windows windows = propagation.initial_windows(3);
    propagation.allow_work(kUnlimitedWork);
    EXPECT_EQ(propagation.shrink(windows, with_energy), !with_energy);
    windows = propagation.initial_windows(4);
    EXPECT_TRUE(propagation.shrink(windows, with_energy));
  }
}

TEST(ProjectWindows, ChangeNothingWithoutWork) {
  const Instance instance = random_project({}, 1);
  ProjectWindows propagation(instance);
  Windows windows = propagation.initial_windows(1000);
  propagation.allow_work(0);
  EXPECT_TRUE(propagation.shrink(windows, true));
  EXPECT_EQ(windows.latest_end, std::vector<double>(6, 1000.0));
}

}  // namespace
}  // namespace cosched::moldable::graph
