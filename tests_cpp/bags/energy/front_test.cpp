#include "cosched/bags/energy/front.hpp"

#include <gtest/gtest.h>

#include "cosched/bags/energy/glpk_programmes.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/core/errors.hpp"
#include "support/bags_instances.hpp"
#include "support/show_bags.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

// Shapes that cover ties, degenerate bases, closed pairs, both extensions.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const int integers : {0, 2, 4})
    for (const auto& [types, machine_types] :
         {std::pair{1, 1}, {1, 4}, {4, 1}, {3, 2}, {5, 4}, {12, 6}, {30, 9}})
      for (const int extra : {0, 1, 2, 3}) {
        Shape shape;
        shape.types = types;
        shape.machine_types = machine_types;
        shape.most_tasks = types > 10 ? 400 : 8;
        shape.integers = integers;
        shape.holes = extra == 1;
        shape.idle = extra >= 2;
        shape.cap = extra == 3 ? 1.5 : 0;
        all.push_back(shape);
      }
  return all;
}

void expect_feasible(const Instance& instance, const energy::EnergyRelaxation& relaxation,
                     double makespan) {
  for (int i = 0; i < instance.types(); ++i) {
    EXPECT_NEAR(relaxation.x.row(i).sum(), static_cast<double>(instance.count(i)),
                1e-9 * instance.count(i));
    for (int j = 0; j < instance.machine_types(); ++j) {
      EXPECT_GE(relaxation.x(i, j), 0);
      if (instance.etc(i, j) > makespan) {
        EXPECT_EQ(relaxation.x(i, j), 0);
      }
    }
  }
  double joules = 0;
  for (int j = 0; j < instance.machine_types(); ++j) {
    double load = 0;
    for (int i = 0; i < instance.types(); ++i) {
      if (relaxation.x(i, j) == 0) continue;
      load += relaxation.x(i, j) * instance.etc(i, j);
      joules += relaxation.x(i, j) * instance.joules(i, j);
    }
    EXPECT_LE(load, instance.machines(j) * makespan * (1 + 1e-9));
  }
  EXPECT_NEAR(joules, relaxation.joules, 1e-9 * joules);
  EXPECT_LE(joules, instance.power_above_idle() * makespan * (1 + 1e-9));
}

TEST(Front, EqualsTheLinearProgrammeAtEveryMakespan) {
  int compared = 0;
  for (const Shape& shape : shapes())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SHOW_ON_FAILURE(seed);
      const Instance instance = random_instance(shape, seed);
      SHOW_ON_FAILURE(instance);
      const auto front = energy::energy_front(instance, energy::Cut::long_tasks);
      Rng rng(seed);
      for (int probe = 0; probe < 8; ++probe) {
        SHOW_ON_FAILURE(probe);
        const double low = front.front().makespan, high = front.back().makespan;
        double makespan = low + (1.2 * high - low) * rng.uniform();
        if (probe == 0) makespan = low * (1 + 1e-7);
        if (probe == 1) makespan = low * (1 - 1e-5);
        const energy::EnergyRelaxation walked = energy::solve_relaxation(instance, makespan);
        const energy::EnergyRelaxation solved =
            energy::solve_relaxation_by_glpk(instance, makespan);
        ASSERT_EQ(walked.is_feasible, makespan >= low);
        ASSERT_EQ(walked.is_feasible, solved.is_feasible)
            << shape.types << " x " << shape.machine_types << " seed " << seed;
        const double joules = energy::joules_at(front, makespan);
        EXPECT_EQ(joules < kInfinity, walked.is_feasible);
        if (!walked.is_feasible) continue;
        ++compared;
        EXPECT_NEAR(walked.joules, solved.joules, 1e-8 * solved.joules);
        EXPECT_NEAR(joules, solved.joules, 1e-8 * solved.joules);
        expect_feasible(instance, walked, makespan);
      }
    }
  EXPECT_GT(compared, 1000);
}

TEST(Front, IsFallingAndConvexWithoutTheCut) {
  for (const Shape& shape : shapes()) {
    const Instance instance = random_instance(shape, 5);
    SHOW_ON_FAILURE(instance);
    const auto front = energy::energy_front(instance, energy::Cut::none);
    EXPECT_NEAR(front.back().joules, instance.least_joules(), 1e-9 * instance.least_joules());
    double slope = -kInfinity;
    for (std::size_t k = 1; k < front.size(); ++k) {
      ASSERT_GT(front[k].makespan, front[k - 1].makespan);
      ASSERT_LE(front[k].joules, front[k - 1].joules * (1 + 1e-12));
      const double next =
          (front[k].joules - front[k - 1].joules) / (front[k].makespan - front[k - 1].makespan);
      EXPECT_GE(next, slope * (1 + 1e-6) - 1e-9 * instance.least_joules());
      slope = next;
    }
  }
}

TEST(Front, BoundEqualsTheProfitProgramme) {
  for (Shape shape : shapes())
    for (const double gamma : {0.5, 1.0, 1.001, 1.1, 1.5, 5.0}) {
      shape.gamma = gamma;
      const Instance instance = random_instance(shape, 11);
      SHOW_ON_FAILURE(instance);
      const energy::BestRate walked = energy::best_rate(instance, energy::Cut::none);
      const energy::ProfitLp solved = energy::solve_profit_by_glpk(instance);
      const double scale = instance.price() / energy::least_makespan(instance);
      EXPECT_NEAR(walked.rate, solved.rate, 1e-8 * scale);
      EXPECT_LE(energy::best_rate(instance, energy::Cut::long_tasks).rate,
                walked.rate + 1e-12 * scale);
    }
}

TEST(Front, BoundsAreAboveTheOptimumOfTenThousandInstances) {
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.types = 1 + static_cast<int>(seed % 3);
    shape.most_tasks = 2;
    shape.most_machines = 2;
    shape.integers = seed % 2 == 0 ? 0 : 5;
    shape.gamma = seed % 7 == 0 ? 0.9 : 1.2;
    shape.holes = seed % 5 == 0;
    shape.idle = seed % 3 == 0;
    shape.cap = seed % 4 == 0 ? 1.5 : 0;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const double optimum = BruteForce(instance).best_rate();
    const double cut = energy::best_rate(instance, energy::Cut::long_tasks).rate;
    EXPECT_TRUE(leq(optimum, cut)) << "seed " << seed;
    EXPECT_TRUE(leq(cut, energy::best_rate(instance, energy::Cut::none).rate)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cosched::bags
