// The rules that choose among ready tasks, against plain definitions.
#include "cosched/dags/list/ready_rules.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/dags/list/data_arrival.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "dags/graphs.hpp"
#include "dags/plain_schedules.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

// The chooser straight from its definition: every ready task on every unit.
template <class Key>
Plan plain_ready_rule(const Instance& instance, Key key) {
  Plan plan(instance.tasks());
  std::vector<std::vector<double>> idle;
  for (const int units : instance.units()) idle.emplace_back(units, 0.0);
  for (int step = 0; step < instance.tasks(); ++step) {
    std::tuple<double, double, double, int> best_key{kInfinity, 0, 0, 0};
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
              best_task < 0 || now < best_key ||
              (now == best_key &&
               (type > best_type ||
                (type == best_type && std::pair(start, from) < std::pair(best_start, best_idle))));
          if (!better) continue;
          best_key = now;
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

void expect_same(const Plan& plan, const Plan& plain) {
  EXPECT_EQ(plan.start, plain.start);
  EXPECT_EQ(plan.kind, plain.kind);
  EXPECT_EQ(plan.unit, plain.unit);
}

TEST(ReadyRules, EqualTheirDefinitions) {
  Rng rng(84);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = graphs::random_with_transfers(rng, round);
    SHOW_ON_FAILURE(instance);
    using Key = std::tuple<double, double, double, int>;
    const std::vector<double> level = compute_ranks(instance.graph(), list::mean_times(instance));
    expect_same(list::etf(instance),
                plain_ready_rule(instance, [&](int task, int type, double start) {
                  return Key{start, -level[task], start + instance.time(task, type), task};
                }));
    expect_same(list::min_min(instance),
                plain_ready_rule(instance, [&](int task, int type, double start) {
                  return Key{start + instance.time(task, type), 0, 0, task};
                }));
    const Allocation allocation = plain::random_allocation(instance, rng);
    if (instance.transfers().is_free()) continue;
    expect_same(list::est(instance, allocation),
                plain_ready_rule(instance, [&](int task, int type, double start) {
                  return Key{type == allocation[task] ? start : kInfinity, 0, 0, task};
                }));
  }
}

// Times that differ by less than what an end can tell apart: the later they start, the more of the
// ends are equal, and then the lowest task is first, although its time may be longer.
TEST(ReadyRules, EndsThatAreEqualByRoundingAreATie) {
  constexpr double kUnit = std::numeric_limits<double>::epsilon();
  std::vector<std::vector<double>> times;
  for (int task = 0; task < 40; ++task) times.push_back({1 + kUnit * (40 - task)});
  const Instance instance = graphs::make(times, {}, {1});
  using Key = std::tuple<double, double, double, int>;
  const Plan plan = list::min_min(instance);
  expect_same(plan, plain_ready_rule(instance, [&](int task, int type, double start) {
                return Key{start + instance.time(task, type), 0, 0, task};
              }));
  // Task 39 is the shortest; when it ends, the ends of neighbours are equal by pairs.
  EXPECT_EQ(plan.start[39], 0);
  EXPECT_LT(plan.start[0], plan.start[10]);
}

}  // namespace
}  // namespace cosched::dags
