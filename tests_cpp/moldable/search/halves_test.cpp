#include "cosched/moldable/search/halves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/search/proof.hpp"
#include "support/moldable_instances.hpp"

namespace cosched::moldable::search {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

bool unlimited(std::int64_t) { return true; }

// Each job as early as the order lets it; the makespan.
double decoded(const Instance& instance, const std::vector<Placed>& order) {
  std::vector<double> free(instance.machines(), 0);
  std::vector<int> seen(instance.jobs(), 0);
  double last = 0;
  for (const Placed& one : order) {
    ++seen[one.job];
    std::sort(free.begin(), free.end());
    last = std::max(last, free[one.procs - 1]);
    std::fill_n(free.begin(), one.procs, last + instance.time(one.job, one.procs));
  }
  EXPECT_EQ(seen, std::vector<int>(instance.jobs(), 1));
  return *std::max_element(free.begin(), free.end());
}

// Whether a search for something shorter than the deadline finds it: what it found, or infinity.
double shorter_than(const Instance& instance, double deadline, bool priced) {
  std::optional<ProcessorPatterns> patterns;
  if (priced) patterns.emplace(choices_of(instance), instance.machines(), deadline / 2, deadline);
  Halves halves(choices_of(instance), instance.machines(), unlimited);
  double best = deadline;
  const auto outcome = halves.search(0, deadline, best, priced ? &*patterns : nullptr,
                                     [&](const std::vector<Placed>& order) {
                                       const double value = decoded(instance, order);
                                       EXPECT_LT(value, best);
                                       return best = value;
                                     });
  EXPECT_TRUE(outcome == Halves::Outcome::searched || outcome == Halves::Outcome::nearer);
  if (outcome == Halves::Outcome::nearer) {
    EXPECT_LT(best, 0.81 * deadline);
  }
  return best < deadline ? best : kInfinity;
}

// From any deadline above it down to the optimum, and not below.
void expect_exact(const Instance& instance, double optimum, std::uint64_t seed,
                  const std::vector<double>& parts = {1.000001, 1.1, 1.4, 2.0}) {
  const bool priced = seed % 4 == 3;
  for (const double part : parts) {
    double best = part * optimum;
    for (double next; (next = shorter_than(instance, best, priced)) < best;) best = next;
    EXPECT_NEAR(best, optimum, kRounding * optimum) << seed << " " << part;
  }
  for (const double part : {0.6, 0.99, 1.0})
    EXPECT_GE(shorter_than(instance, part * optimum, priced), optimum * (1 - kRounding)) << seed;
}

TEST(MoldableHalves, EqualExhaustiveSearch) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng rng(seed);
      const int n = static_cast<int>(rng.between(1, 5)),
                m = static_cast<int>(rng.between(1, n == 5 ? 3 : 4));
      const Instance instance = small_instance(kind, n, m, seed, false);
      expect_exact(instance, exhaustive_optima(instance).makespan, seed);
    }
}

// Whole numbers: jobs that end or start just at the half.  Jobs that must be stacked where they
// would start earlier if the others were not there.
TEST(MoldableHalves, StackJobsWhereOthersLeaveRoom) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const int n = static_cast<int>(rng.between(4, 5)), m = 3;
    Table times(n, m);
    for (int i = 0; i < n; ++i) {
      const auto work = static_cast<double>(rng.between(2, 12));
      const auto fewest = static_cast<int>(rng.between(1, m));
      for (int q = 1; q <= m; ++q) times(i, q - 1) = q < fewest ? 100 : std::ceil(work / q);
    }
    const Instance instance(Times(times), std::vector<double>(n, 1), std::vector<double>(n, 0));
    expect_exact(instance, exhaustive_optima(instance).makespan, seed);
  }
}

// More jobs than can be tried one by one: labels, which share nothing with halves, say what is
// best.
TEST(MoldableHalves, EqualLabelsOfMoreJobs) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Instance instance = small_instance(kind, 6 + static_cast<int>(seed) % 2,
                                               3 + static_cast<int>(seed) % 3, seed, false);
      const Proof proof = optimal(instance);
      ASSERT_TRUE(proof.proved);
      expect_exact(instance, makespan(proof.placement), seed);
    }
}

TEST(MoldableHalves, SayWhereThereIsNoRoomForAllLabels) {
  const Instance instance = small_instance(0, 7, 5, 1, false);
  Halves halves(choices_of(instance), 5, unlimited, 100);
  const auto outcome = halves.search(0, 20 * instance.least_time(0), kInfinity, nullptr,
                                     [](const std::vector<Placed>&) { return kInfinity; });
  EXPECT_EQ(outcome, Halves::Outcome::full);
}

TEST(MoldableHalves, StopWhenTheWorkIsOver) {
  const Instance instance = small_instance(0, 10, 4, 1, false);
  std::int64_t left = 50'000;
  Halves halves(choices_of(instance), 4, [&](std::int64_t steps) { return (left -= steps) > 0; });
  const auto outcome = halves.search(0, 20 * instance.least_time(0), kInfinity, nullptr,
                                     [](const std::vector<Placed>&) { return kInfinity; });
  EXPECT_EQ(outcome, Halves::Outcome::over);
}

}  // namespace
}  // namespace cosched::moldable::search
