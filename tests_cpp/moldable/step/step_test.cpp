// What to start now: the plan is valid, its bound holds, and the budget ends it.
#include "cosched/moldable/step/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cosched/core/errors.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::step {
namespace {

Instance drawn(Rng& rng, int jobs, int machines) {
  Table times(jobs, machines);
  for (int i = 0; i < jobs; ++i) {
    const double alone = 1 + 20 * rng.uniform(), serial = rng.uniform();
    for (int q = 1; q <= machines; ++q) {
      times(i, q - 1) = alone * (serial + (1 - serial) / q);
      if (rng.below(8) == 0 && q < machines)
        times(i, q - 1) = std::numeric_limits<double>::infinity();
    }
  }
  return {Times(times), std::vector<double>(jobs, 1.0)};
}

/// Never more busy than there are, what runs now included.
void expect_valid(const Instance& instance, const std::vector<double>& free,
                  const StepPlan& step_plan) {
  double latest = 0;  // of the plan: what runs now is decided
  for (int i = 0; i < instance.jobs(); ++i) {
    const auto& plan = step_plan.plan;
    ASSERT_GE(plan.procs[i], 1);
    ASSERT_GE(plan.start[i], 0);
    EXPECT_DOUBLE_EQ(plan.end[i], plan.start[i] + instance.exact_time(i, plan.procs[i]));
    latest = std::max(latest, plan.end[i]);
    int busy = 0;
    for (const double when : free) busy += when > plan.start[i];
    for (int j = 0; j < instance.jobs(); ++j)
      if (plan.start[j] <= plan.start[i] && plan.start[i] < plan.end[j]) busy += plan.procs[j];
    EXPECT_LE(busy, instance.machines());
  }
  EXPECT_DOUBLE_EQ(latest, step_plan.makespan);
  EXPECT_GE(step_plan.makespan, step_plan.bound * (1 - 1e-12));
}

// Both processors are busy when the job comes: its time follows the wait.
TEST(Step, BoundIsTheSoonestEndOfASingleJob) {
  const Instance single_job(Times(Table{{10.0, 6.0}}), {1.0});
  EXPECT_DOUBLE_EQ(step(single_job, {25.0, 26.0}, 0.01).bound, 32);  // on both, from 26 s on
  EXPECT_DOUBLE_EQ(step(single_job, {25.0, 30.0}, 0.01).bound, 35);  // on the first alone
}

TEST(Step, IsValidAndWithinItsGuarantee) {
  Rng rng(7);
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    const int machines = 1 + static_cast<int>(rng.below(6));
    const auto instance = drawn(rng, 1 + static_cast<int>(rng.below(6)), machines);
    const std::vector<double> free(machines, 0.0);
    const auto step_plan = step(instance, free, 1e-4);
    expect_valid(instance, free, step_plan);
    const auto best = search::optimal(instance);
    const double optimum = makespan(best.placement);
    EXPECT_LE(step_plan.bound, optimum * (1 + 1e-9));
    EXPECT_LE(step_plan.makespan, 2.02 * optimum);
  }
}

TEST(Step, WaitsForWhatRuns) {
  Rng rng(8);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const int machines = 1 + static_cast<int>(rng.below(6));
    const auto instance = drawn(rng, 1 + static_cast<int>(rng.below(20)), machines);
    std::vector<double> free(machines);
    for (double& when : free) when = rng.below(2) == 0 ? 0.0 : 10 * rng.uniform();
    const auto step_plan = step(instance, free, 1e-4);
    expect_valid(instance, free, step_plan);
    const auto owner = assign_processors(step_plan.plan, free);
    std::vector<int> measured_time(instance.jobs(), 0);
    for (int p = 0; p < machines; ++p)
      if (owner[p] >= 0) {
        EXPECT_EQ(free[p], 0);
        ++measured_time[owner[p]];
      }
    for (int i = 0; i < instance.jobs(); ++i)
      EXPECT_EQ(measured_time[i], step_plan.plan.start[i] == 0 ? step_plan.plan.procs[i] : 0);
  }
}

// A processor that is busy for long says nothing of how good the plan of the ready jobs is.
TEST(Step, CountsWhatCanStillBeDecided) {
  const Instance instance(Times(Table{{8.0, 4.0}, {8.0, 4.0}}), {1.0, 1.0}, {}, 3);
  const std::vector<double> free{0.0, 0.0, 1000.0};
  const auto step_plan = step(instance, free, 0.01);
  expect_valid(instance, free, step_plan);
  EXPECT_EQ(step_plan.makespan, 8);
  EXPECT_GT(step_plan.bound, 7);
  EXPECT_LE(step_plan.bound, 8);
}

TEST(Step, BeginsWhereTheLastCallEnded) {
  Rng rng(9);
  const auto instance = drawn(rng, 200, 16);
  const std::vector<double> free(16, 0.0);
  const auto first = step(instance, free, 0.05);
  const auto resumed = step(instance, free, 1e-9, first.state);
  const auto fresh = step(instance, free, 1e-9);
  EXPECT_GE(first.state.ratio, 1);
  EXPECT_LE(resumed.makespan, fresh.makespan);
}

TEST(Step, RefusesWhatItDoesNotKnow) {
  const Instance single_job(Times(Table{{2.0, 1.0}}), {1.0});
  EXPECT_THROW(step(single_job, {0.0}, 0.1), InvalidInstance);
  EXPECT_THROW(step(single_job, {0.0, -1.0}, 0.1), InvalidInstance);
  EXPECT_THROW(step(single_job, {0.0, INFINITY}, 0.1), InvalidInstance);
  EXPECT_THROW(step(single_job, {0.0, 0.0}, 0.0), InvalidInstance);
  EXPECT_THROW(step(single_job, {0.0, 0.0}, 0.1, {NAN}), InvalidInstance);
  const Instance later(Times(Table{{2.0, 1.0}}), {1.0}, {3.0});
  EXPECT_THROW(step(later, {0.0, 0.0}, 0.1), InvalidInstance);
}

}  // namespace
}  // namespace cosched::moldable::step
