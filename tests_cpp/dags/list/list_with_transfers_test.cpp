// Schedulers that know transfers: feasible, and as without data where data moves for free.
#include "cosched/dags/list/list_with_transfers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

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
    const Instance instance = graphs::random_with_transfers(rng, round);
    SHOW_ON_FAILURE(instance);
    for (const Plan& plan : all_plans(instance, plain::random_allocation(instance, rng)))
      plain::expect_valid(instance, plan);
  }
}

TEST(TransferSchedules, AreAsWithoutDataWhereNothingMoves) {
  Rng rng(82);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance with = graphs::random_with_transfers(rng, round);
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
    const auto zero_plans = all_plans(zero, allocation);
    const auto plain_plans = all_plans(without, allocation);
    for (std::size_t k = 0; k < zero_plans.size(); ++k) {
      EXPECT_EQ(zero_plans[k].start, plain_plans[k].start);
      EXPECT_EQ(zero_plans[k].kind, plain_plans[k].kind);
      EXPECT_EQ(zero_plans[k].unit, plain_plans[k].unit);
    }
  }
}

// At no time is a unit idle while a task waits whose data is there, unless the task's rank is less.
TEST(TransferSchedules, ListSchedulingLeavesNoUnitIdle) {
  Rng rng(85);
  int waited = 0;
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random_with_transfers(rng, round);
    SHOW_ON_FAILURE(instance);
    std::vector<double> priority(instance.tasks());
    for (double& value : priority) value = rng.uniform();
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
        double busy_time = 0;
        for (int other = 0; other < instance.tasks(); ++other) {
          if (plan.kind[other] != type || plan.unit[other] != unit || other == task) continue;
          busy_time += std::max(0.0, std::min(plan.end[other], plan.start[task]) -
                                         std::max(plan.start[other], ready));
          // Of tasks without length, one may end at `ready` itself.
          const bool from = round % 3 == 0 ? plan.start[other] > ready : plan.start[other] >= ready;
          const bool since = from && plan.start[other] < plan.start[task];
          if (since) {
            EXPECT_GT(priority[other], priority[task]);
          }
        }
        EXPECT_NEAR(busy_time, plan.start[task] - ready, 1e-9);
      }
    }
  }
  EXPECT_GT(waited, 300);
}

}  // namespace
}  // namespace cosched::dags
