// EST and OLS against plain definitions, and hand-made cases.
#include "cosched/dags/list/list_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

double ready_time(const Instance& instance, const Plan& plan, int task) {
  double ready = 0;
  for (const int before : instance.graph().predecessors(task))
    ready = std::max(ready, plan.end[before]);
  return ready;
}

// EST straight from its definition, O(n^2 U).
std::vector<double> plain_est(const Instance& instance, const Allocation& allocation) {
  Plan plan(instance.tasks());
  std::vector<char> done(instance.tasks(), 0);
  std::vector<std::vector<double>> idle;
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  for (int step = 0; step < instance.tasks(); ++step) {
    int best = -1;
    double first = kInfinity;
    for (int task = 0; task < instance.tasks(); ++task) {
      if (!plain::is_ready(instance, done, task)) continue;
      const auto& units = idle[allocation[task]];
      const double start =
          std::max(*std::min_element(units.begin(), units.end()), ready_time(instance, plan, task));
      if (start < first) {
        first = start;
        best = task;
      }
    }
    auto& units = idle[allocation[best]];
    const double end = first + instance.time(best, allocation[best]);
    *std::min_element(units.begin(), units.end()) = end;
    plan.set(best, allocation[best], 0, first, end);
    done[best] = 1;
  }
  return plan.start;
}

TEST(Est, EqualsThePlainDefinition) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 25;
    options.types = 1 + round % 3;
    options.integers = round % 2 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Allocation allocation = plain::random_allocation(instance, rng);
    const Plan plan = list::est(instance, allocation);
    plain::expect_valid(instance, plan);
    EXPECT_EQ(plan.start, plain_est(instance, allocation));
  }
}

TEST(Est, TiesGoToTheLowestTaskNumber) {
  const Instance instance = graphs::make({{1, 1}, {5, 5}, {3, 3}}, {}, {1, 1});
  EXPECT_EQ(list::est(instance, {0, 0, 0}).start, (std::vector<double>{0, 1, 6}));
  EXPECT_EQ(list::ols(instance, {0, 0, 0}).start, (std::vector<double>{8, 0, 5}));
}

// Graham: at no time is a unit idle while a task of its type is ready, and the task with the
// highest rank goes first.
TEST(Ols, IsGrahamListScheduling) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 25;
    options.types = 1 + round % 3;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Allocation allocation = plain::random_allocation(instance, rng);
    const Plan plan = list::ols(instance, allocation);
    plain::expect_valid(instance, plan);
    std::vector<double> duration;
    for (int task = 0; task < instance.tasks(); ++task)
      duration.push_back(instance.time(task, allocation[task]));
    const std::vector<double> rank = compute_ranks(instance.graph(), duration);
    for (int task = 0; task < instance.tasks(); ++task) {
      const double ready = ready_time(instance, plan, task);
      if (plan.start[task] == ready) continue;
      // Waited: all units of its type were busy from `ready` on, and whatever started there
      // in the meantime has a higher rank.
      double covered = 0;
      for (int other = 0; other < instance.tasks(); ++other) {
        if (plan.kind[other] != plan.kind[task] || other == task) continue;
        covered += std::max(
            0.0, std::min(plan.end[other], plan.start[task]) - std::max(plan.start[other], ready));
        if (plan.start[other] >= ready && plan.start[other] < plan.start[task]) {
          EXPECT_GE(rank[other], rank[task]);
        }
      }
      EXPECT_NEAR(covered, (plan.start[task] - ready) * instance.units(plan.kind[task]), 1e-9);
    }
  }
}

TEST(Ols, ReadyTasksOnlyOverListOrder) {
  // Task 0 has the highest rank but waits for 1; a short task 2 must not wait for it.
  const Instance instance =
      graphs::make({{1, 9}, {9, 2}, {1, 9}, {9, 5}}, {{1, 0}, {0, 3}}, {1, 1});
  const Plan plan = list::ols(instance, {0, 1, 0, 1});
  EXPECT_EQ(plan.start, (std::vector<double>{2, 0, 0, 3}));
}

TEST(Ols, RanksByWhatFollowsATransfer) {
  // Task 0 takes 1 s, 5 s of transfer and 10 s behind it; task 2 is longer and ends the graph.
  const TaskGraph graph(3, {{0, 1}});
  Table times{{1, 9}, {99, 10}, {3, 99}};
  const Instance instance(
      times, graph, {1, 1},
      Transfers(graph, {1, 1}, {{0, 1}}, {5},
                {.bandwidth = Table(2, 2, 1.0), .latency = Table(2, 2), .memories = {}}));
  const Plan plan = list::ols(instance, {0, 1, 0});
  plain::expect_valid(instance, plan);
  EXPECT_EQ(plan.start, (std::vector<double>{0, 6, 1}));
}

}  // namespace
}  // namespace cosched::dags
