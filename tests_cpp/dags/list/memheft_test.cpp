// Schedules within memories: valid by the check that shares no code with them, never below the
// optimum.
#include "cosched/dags/list/memheft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/list/memory_insertion.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "dags/plain_schedules.hpp"
#include "dags/transfer_graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

Instance limited_to(const Instance& instance, std::vector<double> capacity) {
  Links links = instance.transfers().links();
  links.capacity = std::move(capacity);
  return graphs::with_transfers(instance, instance.transfers().data(), links);
}

// Memories of `share` of all the data, and at least what each task needs while it runs.
Instance limited(Rng& rng, int round, int most_tasks, double share) {
  graphs::RandomOptions options;
  options.tasks = 2 + static_cast<int>(rng.below(most_tasks - 1));
  options.types = 1 + round % 3;
  options.density = 0.2 + 0.4 * rng.uniform();
  options.most_units = 2;
  options.integers = round % 2 == 0;
  const Instance moving =
      graphs::with_random_transfers(rng, graphs::random(rng, options), 0.1 + rng.uniform());
  double all = 0, largest_need = 0;
  for (const double bytes : moving.transfers().data()) all += bytes;
  for (int task = 0; task < moving.tasks(); ++task) {
    double need = 0;
    for (int k = 0; k < moving.graph().predecessors(task).size(); ++k)
      need += moving.transfers().data()[moving.transfers().in_edges(task)[k]];
    for (int k = 0; k < moving.graph().successors(task).size(); ++k)
      need += moving.transfers().data()[moving.transfers().first_out_edge(task) + k];
    largest_need = std::max(largest_need, need);
  }
  std::vector<double> capacity;
  for (const int units : moving.units())
    capacity.insert(capacity.end(), units, std::max(largest_need, share * all));
  return limited_to(moving, capacity);
}

void expect_fits(const Instance& instance, const Plan& plan) {
  plain::expect_valid(instance, plan);
  EXPECT_NO_THROW(check::validate_memory(plan.schedule(), instance));
}

TEST(MemHeft, IsHeftWithoutLimits) {
  Rng rng(361);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(30));
    options.types = 1 + round % 3;
    const Instance plain = graphs::random(rng, options);
    SHOW_ON_FAILURE(plain);
    const Instance moving = graphs::with_random_transfers(rng, plain, 1);
    SHOW_ON_FAILURE(moving);
    std::vector<double> endless;
    double all = 1;
    for (const double bytes : moving.transfers().data()) all += 2 * bytes;
    for (const int units : moving.units()) endless.insert(endless.end(), units, all);
    const Plan heft = list::heft(moving);
    for (const Instance& instance : {plain, moving, limited_to(moving, endless)}) {
      if (&instance == &plain) continue;
      const Plan plan = list::memheft(instance);
      if (!instance.transfers().has_data()) continue;
      EXPECT_EQ(plan.start, heft.start);
      EXPECT_EQ(plan.kind, heft.kind);
      EXPECT_EQ(plan.unit, heft.unit);
    }
  }
}

TEST(MemHeft, StaysWithinTheMemories) {
  Rng rng(362);
  int found_count = 0, tight = 0;
  for (int round = 0; round < 600; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = limited(rng, round, 25, 0.1 + 0.4 * rng.uniform());
    SHOW_ON_FAILURE(instance);
    if (!instance.transfers().has_memory_limits()) continue;
    try {
      const Plan plan = list::memheft(instance);
      expect_fits(instance, plan);
      EXPECT_GE(plan.makespan(), hlp::memory_bound(instance));
      ++found_count;
      try {
        check::validate_memory(list::heft(instance).schedule(), instance);
      } catch (const InvalidSchedule&) {
        ++tight;  // HEFT does not fit
      }
    } catch (const InfeasibleError&) {
    }
  }
  EXPECT_GE(found_count, 200);
  EXPECT_GE(tight, 50);
}

TEST(MemHeft, SaysWhatNeverFits) {
  Links links{.bandwidth = Table(1, 1, 1), .latency = Table(1, 1), .memories = {}};
  links.capacity.assign(1, 4);
  const Instance instance =
      graphs::with_transfers(graphs::make({{1}, {1}, {1}}, {{0, 1}, {1, 2}}, {1}), {3, 3}, links);
  try {
    list::memheft(instance);
    FAIL();
  } catch (const InfeasibleError& error) {
    EXPECT_STREQ(error.what(),
                 "memory_capacity: task 1 needs 6 bytes while it runs, and no memory where it can "
                 "has more than 4");
  }
  EXPECT_THROW(search::hlp_best(instance), InfeasibleError);
}

// Two transfers to one GPU that holds 5 bytes: one of 3 and one of 3 cannot be there at once.
TEST(MemHeft, WaitsForRoom) {
  Links links{.bandwidth = Table(2, 2, 3), .latency = Table(2, 2), .memories = {}};
  links.capacity.assign(3, 100);
  links.capacity[2] = 5;
  const Instance instance = graphs::with_transfers(
      graphs::make({{1, kInfinity}, {kInfinity, 4}, {1, kInfinity}, {kInfinity, 4}},
                   {{0, 1}, {2, 3}}, {2, 1}),
      {3, 3}, links);
  const Plan plan = list::memheft(instance);
  expect_fits(instance, plan);
  // The first runs in [2, 6); the transfer of the second begins when its data is gone.
  EXPECT_EQ(plan.makespan(), 11);
  Plan early = plan;
  const int second = plan.start[1] > plan.start[3] ? 1 : 3;
  early.start[second] -= 0.5;
  early.end[second] -= 0.5;
  EXPECT_NO_THROW(validate(early.schedule(), check::requirements(instance)));
  try {
    check::validate_memory(early.schedule(), instance);
    FAIL();
  } catch (const InvalidSchedule& error) {
    EXPECT_STREQ(error.what(),
                 "the memory of unit 0 of type 1 holds 6 bytes at 5.5: its capacity is 5");
  }
}

// All orders on all units, each task as early as its data, unit and memories allow in that order.
double best_of_all_orders(const Instance& instance) {
  double best = kInfinity;
  std::vector<char> done(instance.tasks(), 0);
  const std::function<void(const list::MemoryInsertion&, int, double)> search =
      [&](const list::MemoryInsertion& so_far, int placed, double makespan) {
        if (makespan >= best) return;
        if (placed == instance.tasks()) {
          best = makespan;
          return;
        }
        for (int task = 0; task < instance.tasks(); ++task) {
          if (done[task]) continue;
          const auto before = instance.graph().predecessors(task);
          if (std::any_of(before.begin(), before.end(), [&](int i) { return !done[i]; })) continue;
          for (int type = 0; type < instance.types(); ++type)
            for (int unit = 0; instance.can_run(task, type) && unit < instance.units(type);
                 ++unit) {
              list::MemoryInsertion next = so_far;
              const list::TaskSlot choice = next.slot_on(task, {type, unit});
              if (choice.type < 0) continue;
              next.place(task, choice);
              done[task] = 1;
              search(next, placed + 1, std::max(makespan, choice.end));
              done[task] = 0;
            }
        }
      };
  search(list::MemoryInsertion(instance), 0, 0);
  return best;
}

TEST(HlpBest, FindsWhatFitsAndNoBoundIsAboveIt) {
  Rng rng(363);
  int found_count = 0, optimal = 0;
  for (int round = 0; round < 90; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = limited(rng, round, 5, 0.05 + 0.3 * rng.uniform());
    SHOW_ON_FAILURE(instance);
    if (!instance.transfers().has_memory_limits()) continue;
    const double best = best_of_all_orders(instance);
    double heuristic = kInfinity;
    try {
      heuristic = list::memheft(instance).makespan();
    } catch (const InfeasibleError&) {
    }
    search::HlpBestOptions options;
    options.evaluations = 2000;
    try {
      const search::HlpBestResult result = search::hlp_best(instance, options);
      expect_fits(instance, result.plan);
      const double makespan = result.plan.makespan();
      EXPECT_LE(makespan, heuristic);
      EXPECT_LE(std::max(result.windows_bound.value, result.memory_bound), best * (1 + 1e-9))
          << round;
      ++found_count;
      optimal += makespan <= best * (1 + 1e-9);
    } catch (const InfeasibleError&) {
      EXPECT_EQ(best, kInfinity) << "round " << round;
    }
  }
  EXPECT_GE(found_count, 40);
  EXPECT_GE(optimal, found_count * 9 / 10);
}

TEST(HlpBest, FitsWhereMemHeftDoesNot) {
  Rng rng(364);
  int failed = 0, rescued = 0;
  for (int round = 0; round < 120; ++round) {
    const Instance instance = limited(rng, round, 16, 0);
    SHOW_ON_FAILURE(instance);
    if (!instance.transfers().has_memory_limits()) continue;
    try {
      list::memheft(instance);
    } catch (const InfeasibleError&) {
      ++failed;
      search::HlpBestOptions options;
      options.evaluations = 1000;
      try {
        expect_fits(instance, search::hlp_best(instance, options).plan);
        ++rescued;
      } catch (const InfeasibleError&) {
      }
    }
  }
  EXPECT_GE(failed, 5);
  EXPECT_GE(rescued, failed / 10);  // of most of them no schedule is known
  RecordProperty("rescued", std::to_string(rescued) + " of " + std::to_string(failed));
}

}  // namespace
}  // namespace cosched::dags
