#include "cosched/moldable/model/instance.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "support/moldable_graphs.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(Instance, IsConstantBeyondItsColumnsAndDropsThoseAboveTheMachine) {
  const Instance wide(Times(table_of({4, 2})), {1}, {}, 5);
  EXPECT_EQ(wide.machines(), 5);
  EXPECT_EQ(wide.time(0, 5), 2);
  EXPECT_EQ(wide.useful_machines(), 2);
  const Instance narrow(Times(table_of({4, 2, 1})), {1}, {}, 2);
  EXPECT_EQ(narrow.useful_machines(), 2);
  EXPECT_EQ(narrow.least_time(0), 2);
}

TEST(Instance, GammaAndLeastAreaAreWhatAScanFinds) {
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SHOW_ON_FAILURE(kind);
      const Instance instance = small_instance(kind, 5, 9, seed);
      SHOW_ON_FAILURE(instance);
      for (int i = 0; i < 5; ++i)
        for (double d = 0.01; d < 8; d *= 1.07) {
          int least_count = 0;
          double area = kInfinity;
          for (int q = 9; q >= 1; --q)
            if (instance.exact_time(i, q) <= d) {
              least_count = q;
              area = std::min(area, q * instance.exact_time(i, q));
            }
          EXPECT_EQ(instance.gamma(i, d), least_count);
          for (const int q : {instance.gamma(i, d), instance.cheapest_procs(i, d)})
            if (q > 0) {
              EXPECT_EQ(instance.used_procs(i, q), q);
              EXPECT_LE(instance.exact_time(i, q), d);
            }
          // Linear speed-up is monotone up to rounding only.
          EXPECT_TRUE(instance.least_area(i, d) == area || close(instance.least_area(i, d), area));
        }
    }
}

TEST(Downey, IsMonotoneAndContinuous) {
  for (const double a : {1.0, 1.5, 7.3, 64.0})
    for (const double sigma : {0.0, 0.3, 1.0, 1.0000001, 2.5, 40.0}) {
      const Downey profile{10, a, sigma};
      EXPECT_DOUBLE_EQ(profile.time(1), 10);
      for (int q = 1; q < 300; ++q) {
        EXPECT_LE(profile.time(q + 1), profile.time(q) * (1 + 1e-12));
        EXPECT_GE((q + 1) * profile.time(q + 1), q * profile.time(q) * (1 - 1e-12));
      }
      EXPECT_NEAR(profile.speedup(100000), a, 1e-9 * a);
    }
}

TEST(Downey, TimesNeverRiseAndCountsGrow) {
  Rng rng(7);
  for (int k = 0; k < 20'000; ++k) {
    SHOW_ON_FAILURE(k);
    const double parallelism = 1 + 190 * rng.uniform(),
                 variance = k % 2 == 0 ? 1e-17 : rng.uniform();
    const Instance instance({Downey{10 * rng.uniform() + 0.1, parallelism, variance}}, {1}, {},
                            200);
    SHOW_ON_FAILURE(instance);
    for (int q = 1; q < 200; ++q) ASSERT_LE(instance.time(0, q + 1), instance.time(0, q));
    for (int q = 1, steps = 0; q > 0; ++steps) {
      ASSERT_LE(steps, 200) << parallelism << ' ' << variance;
      const int next = instance.next_faster_procs(0, q);
      ASSERT_TRUE(next == 0 || next > q);
      q = next;
    }
  }
}

TEST(Downey, AgreesWithTheTableOfItsTimes) {
  const Instance formulas = workload(Kind::cirne, 20, 30, 4);
  SHOW_ON_FAILURE(formulas);
  Table table(20, 30);
  for (int i = 0; i < 20; ++i)
    for (int q = 1; q <= 30; ++q) table(i, q - 1) = formulas.time(i, q);
  const Instance tabled(Times(table), formulas.weights());
  EXPECT_TRUE(tabled.has_monotone_work());
  for (int i = 0; i < 20; ++i)
    for (double d = 0.01; d < 20; d *= 1.3) EXPECT_EQ(tabled.gamma(i, d), formulas.gamma(i, d));
}

TEST(Instance, RefusesBadData) {
  const Times good(table_of({2, 1}));
  EXPECT_THROW(Instance(good, {}), InvalidInstance);
  EXPECT_THROW(Instance(good, {-1}), InvalidInstance);
  EXPECT_THROW(Instance(good, {std::nan("")}), InvalidInstance);
  EXPECT_THROW(Instance(good, {1}, {kInfinity}), InvalidInstance);
  EXPECT_THROW(Instance(good, {1}, {1, 2}), InvalidInstance);
  EXPECT_THROW(Instance(good, {1}, {}, 0), InvalidInstance);
  EXPECT_THROW(Instance(Times(table_of({1e308})), {1e10}), InvalidInstance);
  using Profiles = std::vector<Downey>;
  EXPECT_THROW(Instance(Profiles{}, {}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{0, 1, 1}}, {1}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{1, 0.5, 1}}, {1}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{1, 1, -1}}, {1}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{1, 1e300, 1e300}}, {1}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{5e-324, 4, 0}}, {1}, {}, 4), InvalidInstance);
  EXPECT_THROW(Instance(Profiles{{1, 2, 1}}, {1}, {}, 4).select({1}), InvalidInstance);
}

TEST(Instance, KeepsWhatWasMeasured) {
  const Instance instance(Times(table_of({kInfinity, 60, kInfinity, 80})), {1}, {}, 6);
  EXPECT_EQ(instance.fewest_procs(0), 2);
  EXPECT_EQ(instance.exact_time(0, 3), kInfinity);
  EXPECT_EQ(instance.exact_time(0, 6), 80);  // constant beyond
  EXPECT_EQ(instance.time(0, 6), 60);
  EXPECT_EQ(instance.used_procs(0, 6), 2);
  EXPECT_EQ(instance.least_work(0), 120);
  EXPECT_EQ(instance.next_faster_procs(0, 2), 0);
  EXPECT_FALSE(instance.has_monotone_work());
  Placement placement = empty_placement(1);
  place(instance, placement, 0, 6, 0);
  EXPECT_EQ(placement.procs[0], 2);
  EXPECT_EQ(placement.end[0], 60);
  EXPECT_NO_THROW(check::validate(instance, to_schedule(instance, placement)));
}

// Times may rise and property (2) hold all the same: of what the job uses, that is.
TEST(Instance, WorkIsThatOfTheCountsThatAreUsed) {
  EXPECT_TRUE(Instance(Times(table_of({100, 60, 80})), {1}).has_monotone_work());
  EXPECT_FALSE(Instance(Times(table_of({100, 40, 15})), {1}).has_monotone_work());
}

TEST(Instance, RefusesAJobThatTheMachineCannotRun) {
  const Times times(table_of({kInfinity, kInfinity, 3}));
  EXPECT_NO_THROW(Instance(times, {1}));
  EXPECT_THROW(Instance(times, {1}, {}, 2), InvalidInstance);
}

}  // namespace
}  // namespace cosched::moldable
