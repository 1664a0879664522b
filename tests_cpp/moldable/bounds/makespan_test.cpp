#include "cosched/moldable/bounds/makespan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::bounds {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

// Plain computations from the times as given: every count of every job, every release.

// S_i(d): the least q t_i(q) of the counts that end in time d, infinite where there is none.
double plain_area(const Instance& instance, int i, double d) {
  double least_area = kInfinity;
  for (int q = 1; q <= instance.machines(); ++q)
    if (instance.exact_time(i, q) <= d)
      least_area = std::min(least_area, q * instance.exact_time(i, q));
  return least_area;
}

double plain_longest(const Instance& instance) {
  double longest = 0;
  for (int i = 0; i < instance.jobs(); ++i) {
    double shortest = kInfinity;
    for (int q = 1; q <= instance.machines(); ++q)
      shortest = std::min(shortest, instance.exact_time(i, q));
    longest = std::max(longest, instance.release(i) + shortest);
  }
  return longest;
}

// The least end d for which the jobs of every release r have room in m (d - r), their areas being
// those of jobs that end by `deadline`.
double plain_end(const Instance& instance, double deadline) {
  double end = 0;
  for (const double r : instance.releases()) {
    double area = 0;
    for (int i = 0; i < instance.jobs(); ++i)
      if (instance.release(i) >= r) area += plain_area(instance, i, deadline - instance.release(i));
    end = std::max(end, r + area / instance.machines());
  }
  return end;
}

// The areas change only where d is the end of some job on some count: between two such ends the
// least d is a quotient.
double plain_window(const Instance& instance) {
  std::set<double> ends;
  for (int i = 0; i < instance.jobs(); ++i)
    for (int q = 1; q <= instance.machines(); ++q)
      if (instance.exact_time(i, q) < kInfinity)
        ends.insert(instance.release(i) + instance.exact_time(i, q));
  for (auto at = ends.begin(); at != ends.end(); ++at) {
    const double window_end = std::max(*at, plain_end(instance, *at * (1 + 1e-14)));
    if (std::next(at) == ends.end() || window_end < *std::next(at)) return window_end;
  }
  return kInfinity;
}

TEST(MakespanBounds, AreTheValuesOfPlainComputations) {
  int above_both = 0;
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (const bool releases : {false, true})
      for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SHOW_ON_FAILURE(seed);
        Rng rng(seed);
        const int n = static_cast<int>(rng.between(1, 7)), m = static_cast<int>(rng.between(1, 6));
        const Instance instance = small_instance(kind, n, m, 400 + seed, releases);
        SHOW_ON_FAILURE(instance);
        SCOPED_TRACE(::testing::Message()
                     << "kind " << kind << ", releases " << releases << ", seed " << seed << ": "
                     << n << " jobs, " << m << " machines");
        const double longest = plain_longest(instance), area = plain_end(instance, kInfinity);
        const double window = plain_window(instance);
        EXPECT_NEAR(longest_bound(instance), longest, 1e-12 * longest);
        EXPECT_NEAR(area_bound(instance), area, 1e-12 * area);
        EXPECT_NEAR(window_bound(instance), window, 3 * kExactTolerance * window);
        if (window > 1.001 * std::max(longest, area)) ++above_both;
      }
  EXPECT_GT(above_both, 100);
}

// Two jobs of 4 s on one processor or 3 s on two, the second released at 1.  Ends at 5: each on one
// processor.  To end before 5 the second needs both processors, 6 processor seconds, and with the 4
// of the first that is more than 2 d.
TEST(MakespanBounds, ALaterReleaseNarrowsTheWindow) {
  const Instance instance(Times(Table{{4, 3}, {4, 3}}), {1, 1}, {0, 1});
  EXPECT_DOUBLE_EQ(longest_bound(instance), 4);
  EXPECT_DOUBLE_EQ(area_bound(instance), 4);
  EXPECT_NEAR(window_bound(instance), 5, 1e-7);
}

}  // namespace
}  // namespace cosched::moldable::bounds
