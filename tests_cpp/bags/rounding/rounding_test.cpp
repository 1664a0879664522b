#include "cosched/bags/rounding/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/model/instance.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/core/errors.hpp"
#include "support/bags_instances.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

std::vector<Instance> instances() {
  std::vector<Instance> all;
  std::uint64_t seed = 0;
  for (const int integers : {0, 1, 3})
    for (const int machine_types : {1, 2, 5, 9})
      for (const int tasks : {1, 4, 50, 1'000'000'000})
        for (const bool holes : {false, true}) {
          Shape shape;
          shape.types = 8;
          shape.machine_types = machine_types;
          shape.integers = integers;
          shape.most_tasks = tasks;
          shape.holes = holes;
          shape.idle = holes;
          all.push_back(random_instance(shape, ++seed));
        }
  return all;
}

// x of the relaxation at makespans along the whole front.
void for_each_relaxation(const Instance& instance,
                         const std::function<void(const Table& x, double makespan)>& check) {
  const auto front = energy::energy_front(instance, energy::Cut::long_tasks);
  Rng rng(3);
  for (const energy::FrontPoint& point : front) {
    check(energy::solve_relaxation(instance, point.makespan).x, point.makespan);
    const double between =
        point.makespan + (front.back().makespan - point.makespan) * rng.uniform();
    check(energy::solve_relaxation(instance, between).x, between);
  }
}

TEST(Split, AddsUpExactly) {
  for (const Instance& instance : instances())
    for_each_relaxation(instance, [&](const Table& x, double) {
      const rounding::FractionalSplit pieces = rounding::split_fractions(instance, x);
      for (int i = 0; i < instance.types(); ++i) {
        EXPECT_EQ(pieces.whole_counts.row(i).sum() + pieces.remaining[i], instance.count(i));
        EXPECT_NEAR(pieces.parts.row(i).sum(), static_cast<double>(pieces.remaining[i]), 1e-6);
        for (int j = 0; j < instance.machine_types(); ++j) {
          EXPECT_GE(pieces.parts(i, j), 0);
          EXPECT_LT(pieces.parts(i, j), 1);
          EXPECT_NEAR(static_cast<double>(pieces.whole_counts(i, j)) + pieces.parts(i, j), x(i, j),
                      1e-8 + 1e-14 * x(i, j));
        }
      }
    });
}

TEST(Split, RefusesWhatIsNoAssignment) {
  const Instance instance({2}, {1, 1}, Table(1, 2, 1), Table(1, 2, 1), 5, 1);
  const auto row = [](double a, double b) {
    Table x{{a, b}};
    return x;
  };
  EXPECT_NO_THROW(rounding::split_fractions(instance, row(0.5, 1.5)));
  EXPECT_THROW(rounding::split_fractions(instance, row(0.5, 1.4)), InvalidInstance);
  EXPECT_THROW(rounding::split_fractions(instance, row(-1, 3)), InvalidInstance);
  EXPECT_THROW(rounding::split_fractions(instance, row(std::nan(""), 2)), InvalidInstance);
  EXPECT_THROW(rounding::split_fractions(instance, Table(2, 1, 1)), InvalidInstance);
}

TEST(RoundByMatching, NeitherRaisesEnergyNorDoublesTheMakespan) {
  for (const Instance& instance : instances())
    for_each_relaxation(instance, [&](const Table& x, double makespan) {
      double joules = 0;
      for (int i = 0; i < instance.types(); ++i)
        for (int j = 0; j < instance.machine_types(); ++j)
          if (x(i, j) > 0) joules += x(i, j) * instance.joules(i, j);
      const BagPlan plan = rounding::make_plan(instance, rounding::round_by_matching(instance, x));
      EXPECT_LE(plan.joules, joules * (1 + 1e-9));
      EXPECT_LE(plan.makespan, 2 * makespan * (1 + 1e-9));
    });
}

// The least weight over all b-matchings of the slot graph, by trying each.
TEST(RoundByMatching, TakesTheLeastMatching) {
  // Machine type 0: parts .5 .5 .5 of types of ETC 3, 2, 1 fill slots {0, 1}, {2}; type 1: the rest
  // in one slot and a half.  By hand: the matchings give a type each to 0 or 1, at most 2 each.
  Table etc(3, 2), apc(3, 2), x(3, 2);
  etc = {{3, 3}, {2, 2}, {1, 1}};
  x = {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}};
  for (int cheap = 0; cheap < 3; ++cheap) {
    apc = Table(3, 2, 2);
    apc(cheap, 1) = 1;
    const Instance instance({1, 1, 1}, {1, 1}, etc, apc, 100, 1);
    const Counts counts = rounding::round_by_matching(instance, x);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 3);
    EXPECT_EQ(counts(cheap, 1), 1) << cheap;
    // Types 0 and 1 share the first slot of each machine type.
    EXPECT_EQ(counts(0, 0) + counts(1, 0), 1);
  }
}

TEST(RoundByLargestPart, GivesWhatIsLeftToTheLargest) {
  const Instance instance({4}, {1, 1, 1}, Table(1, 3, 1), Table(1, 3, 1), 5, 1);
  EXPECT_EQ(rounding::round_by_largest_part(instance, {{1.2, 2.5, 0.3}}), (Counts{{1, 3, 0}}));
}

}  // namespace
}  // namespace cosched::bags
