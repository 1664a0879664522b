// EST, OLS, HEFT and the on-line rules against plain re-implementations, hand-made cases and
// the paper's worst cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cosched/core/errors.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
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

bool is_ready(const Instance& instance, const std::vector<char>& done, int task) {
  for (const int before : instance.graph().predecessors(task))
    if (!done[before]) return false;
  return !done[task];
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
      if (!is_ready(instance, done, task)) continue;
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

TEST(Est, TiesGoToTheLowestTaskNumber) {
  const Instance instance = graphs::make({{1, 1}, {5, 5}, {3, 3}}, {}, {1, 1});
  EXPECT_EQ(list::est(instance, {0, 0, 0}).start, (std::vector<double>{0, 1, 6}));
  EXPECT_EQ(list::ols(instance, {0, 0, 0}).start, (std::vector<double>{8, 0, 5}));
}

TEST(Heft, EqualsThePlainDefinition) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 4;
    options.density = round % 5 * 0.1;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    plain::expect_valid(instance, plan);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

TEST(Heft, InsertsIntoGapsEvenWithZeroTimes) {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 1 + round % 4;
    options.density = round % 3 * 0.1;
    options.integers = true;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    plain::expect_valid(instance, plan);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

TEST(Heft, ReachesTheoremOne) {
  for (const auto& [m, k] : {std::pair(4, 2), {9, 3}, {16, 4}, {25, 1}, {36, 6}}) {
    const Plan plan = list::heft(graphs::theorem1(m, k));
    const double expected =
        static_cast<double>(m) / k * (1 - std::pow(static_cast<double>(m) / (m + k), m));
    EXPECT_NEAR(plan.makespan(), expected, 1e-9 * expected) << m << ", " << k;
  }
}

TEST(Online, ErLsReachesTheoremFour) {
  for (const auto& [m, k] : {std::pair(16, 1), {16, 4}, {64, 4}, {25, 25}}) {
    const Instance instance = graphs::theorem4(m, k);
    EXPECT_NEAR(list::er_ls(instance).makespan(), m * std::sqrt(m), 1e-9 * m * std::sqrt(m));
  }
}

TEST(Online, RulesAsInThePaper) {
  // m = 4, k = 1: R1 compares 10/4 with p_gpu, R2 10/2, R3 10.
  const auto types = [](double gpu) {
    const Instance instance = graphs::make({{10, gpu}}, {}, {4, 1});
    return std::vector<int>{list::r1_ls(instance).kind[0], list::r2_ls(instance).kind[0],
                            list::r3_ls(instance).kind[0], list::greedy(instance).kind[0],
                            list::eft(instance).kind[0]};
  };
  EXPECT_EQ(types(2), (std::vector<int>{1, 1, 1, 1, 1}));
  EXPECT_EQ(types(2.5), (std::vector<int>{0, 1, 1, 1, 1}));
  EXPECT_EQ(types(5), (std::vector<int>{0, 0, 1, 1, 1}));
  EXPECT_EQ(types(10), (std::vector<int>{0, 0, 0, 0, 1}));  // EFT: ties to the GPU
  EXPECT_EQ(types(11), (std::vector<int>{0, 0, 0, 0, 0}));
}

TEST(Online, ErLsStepOneComparesAbsoluteTimes) {
  // The GPU is busy until 6.7 after task 0; task 1: 10.5 >= 6.7 + 3.6, so GPU although R2
  // says CPU (10.5 / 3 <= 3.6); task 2 has no such gain.
  const Instance instance = graphs::make({{20, 6.7}, {10.5, 3.6}, {8.9, 3}}, {}, {9, 1});
  EXPECT_EQ(list::er_ls(instance).kind, (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(list::r2_ls(instance).kind, (std::vector<int>{0, 0, 0}));
}

TEST(Online, EveryRuleIsValidForEveryOrder) {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 20;
    options.types = 1 + round % 3;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    std::vector<int> order;  // a random topological order
    std::vector<char> done(instance.tasks(), 0);
    while (static_cast<int>(order.size()) < instance.tasks()) {
      const int task = static_cast<int>(rng.below(instance.tasks()));
      if (!is_ready(instance, done, task)) continue;
      done[task] = 1;
      order.push_back(task);
    }
    for (const Plan& plan :
         {list::r1_ls(instance, order), list::r2_ls(instance, order), list::r3_ls(instance, order),
          list::eft(instance, order), list::greedy(instance, order),
          list::random_types(instance, round, order)})
      plain::expect_valid(instance, plan);
    if (instance.types() == 2) plain::expect_valid(instance, list::er_ls(instance, order));
    EXPECT_EQ(list::greedy(instance).start, list::r3_ls(instance).start);
    EXPECT_EQ(list::random_types(instance, 7).start, list::random_types(instance, 7).start);
  }
}

TEST(Online, RefusesBadOrdersAndTypes) {
  const Instance two = graphs::make({{1, 1}, {1, 1}}, {{0, 1}}, {1, 1});
  EXPECT_THROW(list::er_ls(two, {1, 0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0, 0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0}), InvalidInstance);
  EXPECT_THROW(list::er_ls(two, {0, 2}), InvalidInstance);
  EXPECT_THROW(list::er_ls(graphs::make({{1, 1, 1}}, {}, {1, 1, 1})), InvalidInstance);
}

}  // namespace
}  // namespace cosched::dags
