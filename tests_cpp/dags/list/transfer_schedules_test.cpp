// Schedulers that know transfers: feasible on every instance, equal to plain definitions, and as
// without data where data moves for free.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/insertion.hpp"
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

Instance random_instance(Rng& rng, int round) {
  graphs::RandomOptions options;
  options.tasks = 1 + round % 25;
  options.types = 1 + round % 4;
  options.density = round % 5 * 0.12;
  options.integers = round % 3 == 0;
  const double ccr = round % 4 == 0 ? 0.1 : round % 4 == 1 ? 1 : 5;
  return graphs::with_transfers(rng, graphs::random(rng, options), ccr);
}

std::vector<Plan> all_plans(const Instance& instance, const Allocation& allocation) {
  std::vector<Plan> plans{list::heft(instance),
                          list::cpop(instance),
                          list::peft(instance),
                          list::etf(instance),
                          list::min_min(instance),
                          list::est(instance, allocation),
                          list::eft(instance),
                          list::greedy(instance),
                          list::r1_ls(instance),
                          list::r2_ls(instance),
                          list::r3_ls(instance),
                          list::random_types(instance, 3),
                          list::ols(instance, allocation)};
  if (instance.types() == 2) plans.push_back(list::er_ls(instance));
  return plans;
}

TEST(TransferSchedules, AreFeasible) {
  Rng rng(81);
  for (int round = 0; round < 400; ++round) {
    const Instance instance = random_instance(rng, round);
    SHOW_ON_FAILURE(instance);
    for (const Plan& plan : all_plans(instance, plain::random_allocation(instance, rng)))
      plain::expect_valid(instance, plan);
  }
}

TEST(TransferSchedules, AreAsWithoutDataWhereNothingMoves) {
  Rng rng(82);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance with = random_instance(rng, round);
    SHOW_ON_FAILURE(with);
    const Instance without(with.times(), with.graph(), with.units());
    SHOW_ON_FAILURE(without);
    std::vector<Edge> edges;
    for (int task = 0; task < with.tasks(); ++task)
      for (const int next : with.graph().successors(task)) edges.emplace_back(task, next);
    const Instance zero(
        with.times(), with.graph(), with.units(),
        Transfers(with.graph(), with.units(), edges, std::vector<double>(edges.size(), 0.0),
                  with.transfers().links()));
    SHOW_ON_FAILURE(zero);
    EXPECT_TRUE(zero.transfers().has_data() && zero.transfers().is_free());
    const Allocation allocation = plain::random_allocation(with, rng);
    const auto one = all_plans(zero, allocation), other = all_plans(without, allocation);
    for (std::size_t k = 0; k < one.size(); ++k) {
      EXPECT_EQ(one[k].start, other[k].start);
      EXPECT_EQ(one[k].kind, other[k].kind);
      EXPECT_EQ(one[k].unit, other[k].unit);
    }
  }
}

TEST(TransferSchedules, HeftEqualsThePlainDefinition) {
  Rng rng(83);
  for (int round = 0; round < 400; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_instance(rng, round);
    SHOW_ON_FAILURE(instance);
    const Plan plan = list::heft(instance), plain = plain::heft(instance);
    EXPECT_EQ(plan.start, plain.start);
    EXPECT_EQ(plan.kind, plain.kind);
    EXPECT_EQ(plan.unit, plain.unit);
  }
}

// The chooser straight from its definition: every ready task on every unit.
template <class Key>
Plan plain_ready_rule(const Instance& instance, Key key) {
  Plan plan(instance.tasks());
  std::vector<std::vector<double>> idle;
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  for (int step = 0; step < instance.tasks(); ++step) {
    std::tuple<double, double, double, int> least{kInfinity, 0, 0, 0};
    double best_start = 0, best_idle = 0;
    int best_task = -1, best_type = -1, best_unit = -1;
    for (int task = 0; task < instance.tasks(); ++task) {
      bool ready = plan.kind[task] < 0;
      for (const int before : instance.graph().predecessors(task))
        ready = ready && plan.kind[before] >= 0;
      if (!ready) continue;
      for (int type = 0; type < instance.types(); ++type)
        for (int unit = 0; instance.can_run(task, type) && unit < instance.units(type); ++unit) {
          const double from = idle[type][unit];
          const double start =
              std::max(from, list::data_arrival_at(instance, plan, task, {type, unit}));
          const auto now = key(task, type, start);
          const bool better =
              best_task < 0 || now < least ||
              (now == least &&
               (type > best_type ||
                (type == best_type && std::pair(start, from) < std::pair(best_start, best_idle))));
          if (!better) continue;
          least = now;
          best_task = task;
          best_type = type;
          best_unit = unit;
          best_start = start;
          best_idle = from;
        }
    }
    const double end = best_start + instance.time(best_task, best_type);
    idle[best_type][best_unit] = end;
    plan.set(best_task, best_type, best_unit, best_start, end);
  }
  return plan;
}

TEST(TransferSchedules, ReadyRulesEqualTheirDefinitions) {
  Rng rng(84);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_instance(rng, round);
    SHOW_ON_FAILURE(instance);
    const auto same = [&](const Plan& plan, const Plan& plain) {
      EXPECT_EQ(plan.start, plain.start);
      EXPECT_EQ(plan.kind, plain.kind);
      EXPECT_EQ(plan.unit, plain.unit);
    };
    using Key = std::tuple<double, double, double, int>;
    const std::vector<double> level = compute_ranks(instance.graph(), list::mean_times(instance));
    same(list::etf(instance), plain_ready_rule(instance, [&](int task, int type, double start) {
           return Key{start, -level[task], start + instance.time(task, type), task};
         }));
    same(list::min_min(instance), plain_ready_rule(instance, [&](int task, int type, double start) {
           return Key{start + instance.time(task, type), 0, 0, task};
         }));
    const Allocation allocation = plain::random_allocation(instance, rng);
    if (instance.transfers().is_free()) continue;
    same(list::est(instance, allocation),
         plain_ready_rule(instance, [&](int task, int type, double start) {
           return Key{type == allocation[task] ? start : kInfinity, 0, 0, task};
         }));
  }
}

// At no time is a unit idle while a task waits whose data is there, unless the task's rank is less.
TEST(TransferSchedules, ListSchedulingLeavesNoUnitIdle) {
  Rng rng(85);
  int waited = 0;
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_instance(rng, round);
    SHOW_ON_FAILURE(instance);
    std::vector<double> priority(instance.tasks());
    for (double& one : priority) one = rng.uniform();
    const Plan plan =
        list::list_schedule(instance, plain::random_allocation(instance, rng), priority);
    plain::expect_valid(instance, plan);
    for (int task = 0; task < instance.tasks(); ++task) {
      const int type = plan.kind[task];
      for (int unit = 0; unit < instance.units(type); ++unit) {
        const double ready = list::data_arrival_at(instance, plan, task, {type, unit});
        if (ready >= plan.start[task]) continue;
        ++waited;
        // From then to its start, other tasks hold the unit; those begun since have higher
        // priority.
        double held = 0;
        for (int other = 0; other < instance.tasks(); ++other) {
          if (plan.kind[other] != type || plan.unit[other] != unit || other == task) continue;
          held += std::max(0.0, std::min(plan.end[other], plan.start[task]) -
                                    std::max(plan.start[other], ready));
          // Of tasks without length, one may end at `ready` itself.
          const bool from = round % 3 == 0 ? plan.start[other] > ready : plan.start[other] >= ready;
          const bool since = from && plan.start[other] < plan.start[task];
          if (since) {
            EXPECT_GT(priority[other], priority[task]);
          }
        }
        EXPECT_NEAR(held, plan.start[task] - ready, 1e-9);
      }
    }
  }
  EXPECT_GT(waited, 300);
}

TEST(TransferSchedules, InsertionKeepsToTheTypesItIsGiven) {
  Rng rng(86);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_instance(rng, round);
    SHOW_ON_FAILURE(instance);
    const Allocation allocation = plain::random_allocation(instance, rng);
    EXPECT_EQ(list::insertion_schedule(instance, list::heft_ranks(instance), &allocation).kind,
              allocation);
  }
}

TEST(TransferSchedules, MeanTimesAreOverTheUnitsThatCanRunATask) {
  const Instance instance = graphs::make({{1, 4}, {3, kInfinity}}, {}, {2, 1});
  EXPECT_EQ(list::mean_times(instance), (std::vector<double>{2, 3}));
}

TEST(TransferSchedules, CpopKeepsItsPathOnOneUnit) {
  // Path 0 -> 1 -> 3 in either type's favour; 2 is short.  Data makes it stay together.
  const TaskGraph graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  Table times{{4, 2}, {6, 3}, {1, 9}, {4, 2}};
  const Instance instance(times, graph, {2, 1},
                          Transfers(graph, {2, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {1, 1, 1, 1},
                                    {Table(2, 2, 1.0), Table(2, 2), {}}));
  const Plan plan = list::cpop(instance);
  plain::expect_valid(instance, plan);
  EXPECT_EQ(plan.kind, (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(plan.start, (std::vector<double>{0, 2, 3, 5}));
}

TEST(TransferSchedules, OlsRanksByWhatFollowsATransfer) {
  // Task 0 takes 1 s, 5 s of transfer and 10 s behind it; task 2 is longer and ends the graph.
  const TaskGraph graph(3, {{0, 1}});
  Table times{{1, 9}, {99, 10}, {3, 99}};
  const Instance instance(
      times, graph, {1, 1},
      Transfers(graph, {1, 1}, {{0, 1}}, {5}, {Table(2, 2, 1.0), Table(2, 2), {}}));
  const Plan plan = list::ols(instance, {0, 1, 0});
  plain::expect_valid(instance, plan);
  EXPECT_EQ(plan.start, (std::vector<double>{0, 6, 1}));
}

TEST(TransferSchedules, PeftLooksAhead) {
  // OCT by hand: 1 needs 1 on the second type, so 0 on the first type pays min(5, 1 + 2).
  const TaskGraph graph(2, {{0, 1}});
  Table times{{2, 2.5}, {5, 1}};
  const Instance instance(
      times, graph, {1, 1},
      Transfers(graph, {1, 1}, {{0, 1}}, {2}, {Table(2, 2, 1.0), Table(2, 2), {}}));
  const Table costs = list::optimistic_costs(instance);
  EXPECT_EQ(costs(0, 0), 3);
  EXPECT_EQ(costs(0, 1), 1);
  EXPECT_EQ(list::peft(instance).kind, (std::vector<int>{1, 1}));
  EXPECT_EQ(list::peft(instance).makespan(), 3.5);
  EXPECT_EQ(list::heft(instance).makespan(), 5);
}

TEST(TransferSchedules, PeftPutsFirstWhatMoreFollows) {
  // Of two chains on one unit, the second has the longer end.
  const Instance instance = graphs::make({{1}, {1}, {2}, {6}}, {{0, 2}, {1, 3}}, {1});
  EXPECT_EQ(list::peft(instance).start[1], 0);
}

}  // namespace
}  // namespace cosched::dags
