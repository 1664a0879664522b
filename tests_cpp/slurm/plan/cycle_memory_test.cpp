#include "cosched/slurm/plan/cycle_memory.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/select/select.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// A controller with a job that runs on node 0 until second 600, and jobs of one kind that wait.
class MemoryOfCycle {
 public:
  explicit MemoryOfCycle(bool is_on)
      : scenario_(scenario_of(plain_machine(2),
                              {plain_job(0, 1, 600), plain_job(0, 2, 60), plain_job(0, 2, 60)})),
        controller_(scenario_, -60, {}),
        select_(scenario_, controller_.allocations(), 0),
        memory(clocks_, controller_, select_, is_on) {
    controller_.start({0, 0}, choice_from(0, 1, 2), 0, Scheduler::main);
    memory.begin_cycle(10, 3600, true);
  }

 private:
  Scenario scenario_;
  Clocks clocks_;
  ControllerState controller_;
  Select select_;

 public:
  CycleMemory memory;
};

constexpr TryKey kKey{.partition = 0, .now = 10};

TEST(SlurmCycleMemory, RecallsARejectionOfTheKindUnderTheSameKey) {
  MemoryOfCycle cycle(true);
  cycle.memory.begin_try({1, 0}, 10);
  EXPECT_EQ(cycle.memory.recall(kKey), nullptr);
  cycle.memory.observe_test(10, kNever, 7200);
  cycle.memory.end_try(kKey, {.is_counted = true}, Verdict::after_window, 7200, 0);
  cycle.memory.begin_try({2, 0}, 10);
  const NegativeResult* last = cycle.memory.recall(kKey);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->verdict, Verdict::after_window);
  EXPECT_TRUE(last->effects.is_counted);
  EXPECT_EQ(cycle.memory.recall({.partition = 0, .now = 11}), nullptr);
}

TEST(SlurmCycleMemory, RecallsNeitherStartsNorReservationsNorFailedStarts) {
  MemoryOfCycle cycle(true);
  const std::vector<std::pair<TryEffects, Verdict>> tries{
      {{}, Verdict::reserved},
      {{}, Verdict::node_space_full},
      {{.has_tried_start = true}, Verdict::started},
      {{.has_tried_start = true}, Verdict::no_nodes}};
  for (const auto& [effects, verdict] : tries) {
    cycle.memory.begin_try({1, 0}, 10);
    cycle.memory.end_try(kKey, effects, verdict, 600, 660);
    cycle.memory.begin_try({2, 0}, 10);
    EXPECT_EQ(cycle.memory.recall(kKey), nullptr);
  }
}

TEST(SlurmCycleMemory, ATryFromALaterTimeOnIsNobodyElses) {
  MemoryOfCycle cycle(true);
  cycle.memory.begin_try({1, 0}, 10, false);
  cycle.memory.end_try(kKey, {}, Verdict::no_nodes, kNever, 0);
  cycle.memory.begin_try({2, 0}, 10);
  EXPECT_EQ(cycle.memory.recall(kKey), nullptr);
}

TEST(SlurmCycleMemory, AnUnchangedPlanHoldsUntilTheRunningJobsLimit) {
  MemoryOfCycle cycle(true);
  cycle.memory.end_cycle(10, false, false);
  EXPECT_TRUE(cycle.memory.is_plan_unchanged(599.9, 1));
  EXPECT_FALSE(cycle.memory.is_plan_unchanged(600, 1));
  cycle.memory.forget_last_cycle();
  EXPECT_FALSE(cycle.memory.is_plan_unchanged(20, 1));
}

TEST(SlurmCycleMemory, ATestForNowMakesThePlanOfThisSecondAlone) {
  MemoryOfCycle cycle(true);
  cycle.memory.begin_try({1, 0}, 10);
  cycle.memory.observe_test(10, kNever, 11);
  cycle.memory.end_try(kKey, {}, Verdict::no_nodes, kNever, 0);
  cycle.memory.end_cycle(10, false, false);
  EXPECT_FALSE(cycle.memory.is_plan_unchanged(10, 1));
}

TEST(SlurmCycleMemory, RemembersNothingWhereItIsOff) {
  MemoryOfCycle cycle(false);
  cycle.memory.begin_try({1, 0}, 10);
  cycle.memory.end_try(kKey, {}, Verdict::no_nodes, kNever, 0);
  cycle.memory.begin_try({2, 0}, 10);
  EXPECT_EQ(cycle.memory.recall(kKey), nullptr);
  cycle.memory.end_cycle(10, false, false);
  EXPECT_FALSE(cycle.memory.is_plan_unchanged(20, 1));
}

}  // namespace
}  // namespace cosched::slurm
