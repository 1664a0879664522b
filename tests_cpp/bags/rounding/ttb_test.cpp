#include "cosched/bags/rounding/ttb.hpp"

#include <gtest/gtest.h>

#include "cosched/bags/check/validate.hpp"
#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"
#include "cosched/core/errors.hpp"
#include "support/bags_instances.hpp"
#include "support/show_bags.hpp"

namespace cosched::bags {
namespace {

using namespace cosched::bags::testing;  // NOLINT

check::ScheduleRows rows_of(const Instance& instance, const BagPlan& plan) {
  check::ScheduleRows rows;
  const Timetable times = make_timetable(instance, plan);
  for (const TaskRun& run : plan.runs) {
    rows.task_type.push_back(run.task_type);
    rows.machine_type.push_back(run.machine_type);
    rows.machine.push_back(run.machine);
    rows.count.push_back(run.count);
  }
  rows.start = times.start;
  rows.end = times.end;
  return rows;
}

void expect_sound(const Instance& instance, const BagPlan& plan) {
  const check::ScheduleRows rows = rows_of(instance, plan);
  ASSERT_NO_THROW(check::validate(instance, rows));
  EXPECT_NEAR(*std::max_element(rows.end.begin(), rows.end.end()), plan.makespan,
              1e-12 * plan.makespan);
  EXPECT_NEAR(plan.profit_rate,
              (instance.price() - instance.energy_cost() * plan.energy) / plan.makespan,
              1e-9 * (instance.price() + instance.energy_cost() * plan.energy) / plan.makespan);
  const double scale = instance.price() / plan.makespan;
  EXPECT_LE(plan.profit_rate,
            energy::best_rate(instance, energy::Cut::long_tasks).rate + 1e-9 * scale);
  EXPECT_LE(plan.profit_rate, energy::best_rate(instance, energy::Cut::none).rate + 1e-9 * scale);
}

std::vector<BagPlan> all_plans(const Instance& instance) {
  return {rounding::ttb(instance, 0.1), rounding::ttb_exact(instance), rounding::tms(instance),
          rounding::min_energy(instance), rounding::min_makespan(instance)};
}

TEST(Algorithms, AreWithinTheirGuaranteesOfTheOptimum) {
  for (const int integers : {0, 1, 4})
    for (const double gamma : {1.0, 1.05, 1.3, 3.0})
      for (const int extra : {0, 1, 2, 3})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
          SHOW_ON_FAILURE(seed);
          Shape shape;
          shape.types = 1 + static_cast<int>(seed % 3);
          shape.machine_types = 1 + static_cast<int>(seed % 2);
          shape.most_tasks = shape.types == 3 ? 3 : 4;
          shape.most_machines = 2;
          shape.integers = integers;
          shape.gamma = gamma;
          shape.holes = extra == 1;
          shape.idle = extra >= 2;
          shape.cap = extra == 3 ? 1.2 : 0;
          const Instance instance = random_instance(shape, seed);
          SHOW_ON_FAILURE(instance);
          const BruteForce brute(instance);
          const double idle = instance.energy_cost() * instance.idle_power();
          const double best = brute.best_rate() + idle;  // guarantees hold without the idle cost
          const double scale = instance.price() / brute.least_makespan();
          EXPECT_GE(energy::best_rate(instance, energy::Cut::long_tasks).rate + idle,
                    best - 1e-9 * scale);
          for (const double eps : {0.01, 0.1, 1.0})
            for (const bool with_tms : {false, true})
              EXPECT_GE((rounding::ttb(instance, eps, with_tms).profit_rate + idle) * (2 + 2 * eps),
                        best - 1e-9 * scale);
          EXPECT_GE((rounding::ttb_exact(instance).profit_rate + idle) * 2, best - 1e-9 * scale);
          EXPECT_LE(rounding::min_makespan(instance).makespan,
                    2 * brute.least_makespan() * (1 + 1e-9));
          EXPECT_LE(energy::least_makespan(instance), brute.least_makespan() * (1 + 1e-9));
          for (const BagPlan& plan : all_plans(instance)) {
            EXPECT_LE(plan.profit_rate + idle, best + 1e-9 * scale);
            expect_sound(instance, plan);
          }
        }
}

TEST(Algorithms, HoldOnLargerInstances) {
  for (const std::int64_t tasks : {150, 12'000, 1'000'000'000})
    for (const double gamma : {0.9, 1.0, 1.2}) {
      const Instance instance = figure_3_instance(tasks, gamma, 7);
      for (const BagPlan& plan : all_plans(instance)) expect_sound(instance, plan);
      EXPECT_NEAR(rounding::min_energy(instance).energy, instance.least_joules(),
                  1e-9 * instance.least_joules());
    }
}

TEST(Algorithms, WorkWithoutPriceOrEnergyCost) {
  const Shape shape;
  const Instance priced = random_instance(shape, 1);
  SHOW_ON_FAILURE(priced);
  for (const auto& [price, cost] : {std::pair{0.0, 1.0}, {5.0, 0.0}, {0.0, 0.0}}) {
    const Instance instance(priced.counts(), priced.all_machines(), priced.etc(), priced.apc(),
                            price, cost);
    for (const BagPlan& plan : all_plans(instance)) expect_sound(instance, plan);
  }
}

TEST(Algorithms, PowerCapIsKeptByWaiting) {
  Shape shape;
  shape.cap = 0.3;  // below the mean power of any schedule that keeps its machines busy
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    for (const BagPlan& plan : all_plans(instance)) {
      expect_sound(instance, plan);
      EXPECT_LE(plan.joules / plan.makespan, instance.power_above_idle() * (1 + 1e-12));
    }
  }
}

// No makespan's rounding is better, whatever the grid.
TEST(TtbExact, IsTheBestOfAllMakespans) {
  for (const int integers : {0, 1})
    for (const int tasks : {4, 40, 400})
      for (const int extra : {0, 1, 2})
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          SHOW_ON_FAILURE(seed);
          Shape shape;
          shape.types = 2 + static_cast<int>(seed % 5);
          shape.machine_types = 2 + static_cast<int>(seed % 3);
          shape.most_tasks = tasks;
          shape.most_machines = 4;
          shape.integers = integers;
          shape.holes = extra == 1;
          shape.idle = extra == 2;
          shape.cap = extra == 2 ? 1.2 : 0;
          const Instance instance = random_instance(shape, seed);
          SHOW_ON_FAILURE(instance);
          const double exact = rounding::ttb_exact(instance).profit_rate;
          const double scale = 1e-9 * instance.price() / energy::least_makespan(instance);
          for (const double eps : {1e-4, 0.003, 0.1})
            EXPECT_GE(exact, rounding::ttb(instance, eps).profit_rate - scale);
          EXPECT_GE(exact, rounding::tms(instance).profit_rate);
          const std::vector<energy::FrontPoint> front =
              energy::energy_front(instance, energy::Cut::long_tasks);
          const double low = front.front().makespan, high = front.back().makespan;
          for (int k = 0; k <= 300; ++k) {
            const double makespan = low + (high - low) * k / 300;
            const Counts counts = rounding::round_by_matching(
                instance, energy::solve_relaxation(instance, makespan).x);
            EXPECT_GE(exact, rounding::profit_rate_of(instance, counts) - scale);
          }
        }
}

TEST(Ttb, IsNeverBelowTmsWhereItMayTakeItsPlan) {
  int below = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SHOW_ON_FAILURE(seed);
    Shape shape;
    shape.most_tasks = 60;
    shape.most_machines = 5;
    const Instance instance = random_instance(shape, seed);
    SHOW_ON_FAILURE(instance);
    const double of_tms = rounding::tms(instance).profit_rate;
    EXPECT_GE(rounding::ttb(instance, 0.1).profit_rate, of_tms);
    EXPECT_GE(rounding::ttb(instance, 0.1).profit_rate,
              rounding::ttb(instance, 0.1, false).profit_rate);
    below += rounding::ttb(instance, 0.1, false).profit_rate < of_tms * (1 - 1e-9);
  }
  EXPECT_GT(below, 0);  // the paper's grid alone can be
}

TEST(Ttb, RefusesBadEps) {
  const Instance instance = random_instance({}, 1);
  SHOW_ON_FAILURE(instance);
  for (const double eps : {0.0, -1.0, 1e-9, 1.5, std::nan("")})
    EXPECT_THROW(rounding::ttb(instance, eps), InvalidInstance);
}

}  // namespace
}  // namespace cosched::bags
