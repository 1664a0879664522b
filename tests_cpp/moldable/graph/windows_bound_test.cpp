#include "cosched/moldable/graph/windows_bound.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/projects.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr std::int64_t kUnlimitedTerms = std::numeric_limits<std::int64_t>::max();

double windows_bound(const Instance& instance, double high, std::int64_t work) {
  ProjectWindows windows(instance);
  double low = 0;
  raise_by_windows(windows, low, high, work);
  return low;
}

TEST(WindowsBound, IsAtMostTheOptimumWhateverTheWork) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_project({.has_integers = seed % 2 == 0}, seed);
    const double optimum = ProjectEnumeration(instance).least_makespan();
    for (const std::int64_t work : {std::int64_t{0}, std::int64_t{5000}, kUnlimitedTerms})
      EXPECT_LE(windows_bound(instance, optimum, work), optimum * (1 + 1e-9)) << seed;
    sum += windows_bound(instance, kInfinity, kUnlimitedTerms) / optimum;
  }
  EXPECT_GE(sum / 60, 0.9);
}

TEST(WindowsBound, OfIntegersIsAnInteger) {
  const Instance instance = random_project({.jobs = 20}, 4);
  const double bound = windows_bound(instance, kInfinity, kUnlimitedTerms);
  EXPECT_GT(bound, 0);
  EXPECT_EQ(bound, std::floor(bound));
}

}  // namespace
}  // namespace cosched::moldable::graph
