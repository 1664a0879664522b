#include "cosched/slurm/state/controller_state.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/node_choice.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmControllerState, OverdueBehindOverTimeLimit) {
  const std::vector<Job> jobs{plain_job(0, 1, 100), plain_job(0, 1, 60), plain_job(0, 1, 300)};
  for (const double overtime : {0.0, 20.0, 4e18}) {
    const Scenario scenario = scenario_of(plain_machine(4), jobs, {{"OverTimeLimit", overtime}});
    ControllerState controller(scenario, -60, {});
    for (int job = 0; job < 3; ++job) {
      controller.submit(job, 0);
      controller.start({job, 0}, choice_from(job, job + 1, 4), 0.5, Scheduler::main);
    }
    EXPECT_EQ(controller.overdue(59), Nodes{});
    EXPECT_EQ(controller.overdue(100), overtime == 0    ? (Nodes{1, 0})
                                       : overtime == 20 ? (Nodes{1})
                                                        : Nodes{});
  }
}

TEST(SlurmControllerState, AJobWithoutALimitIsNeverOverdue) {
  const Scenario scenario =
      scenario_of(plain_machine(4), {plain_job(0, 1, kNever), plain_job(0, 1, kYear)});
  ControllerState controller(scenario, -60, {});
  for (int job = 0; job < 2; ++job) {
    controller.submit(job, 0);
    controller.start({job, 0}, choice_from(job, job + 1, 4), 0.5, Scheduler::main);
  }
  EXPECT_EQ(controller.overdue(kYear), Nodes{1});
}

TEST(SlurmControllerState, CompleteWaitCountsFromTheEnd) {
  for (const Second wait : {0, 1, 10}) {
    const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 1, 100)},
                                          {{"CompleteWait", static_cast<double>(wait)}});
    ControllerState controller(scenario, -60, {});
    controller.submit(0, 0);
    controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    controller.end(0, 40, false);
    EXPECT_EQ(controller.waits_for_completion(40 + wait), wait > 0);
    EXPECT_FALSE(controller.waits_for_completion(41 + wait));
    controller.complete_epilog(0, 40);
    EXPECT_FALSE(controller.waits_for_completion(40));
  }
}

TEST(SlurmControllerState, EveryChangeIsMoreWork) {
  const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 1, 100)});
  ControllerState controller(scenario, -60, {true, false});
  EXPECT_TRUE(controller.updates().has_changed_since(-60));
  EXPECT_FALSE(controller.updates().has_changed_since(-59));
  controller.submit(0, 1);
  EXPECT_TRUE(controller.updates().has_changed_since(1));
  controller.start({0, 0}, choice_from(1, 2, 4), 2.5, Scheduler::backfill);
  EXPECT_TRUE(controller.updates().has_changed_since(2));
  EXPECT_FALSE(controller.updates().has_changed_since(3));
  controller.end(0, 30, true);
  EXPECT_TRUE(controller.updates().has_changed_since(30));
  controller.complete_epilog(0, 31);
  EXPECT_TRUE(controller.updates().has_changed_since(31));
  const Outcome outcome = std::move(controller).outcome();
  EXPECT_EQ(outcome.start[0], 2);
  EXPECT_EQ(outcome.start_exact[0], 2.5);
  EXPECT_EQ(outcome.end[0], 30);
  EXPECT_EQ(outcome.is_killed[0], 1);
  EXPECT_EQ(outcome.scheduler[0], 1);
  EXPECT_EQ(outcome.nodes[0], Nodes{1});
  ASSERT_EQ(outcome.notes.size(), 2u);
  EXPECT_EQ(outcome.notes[0].action, Action::start_backfill);
  EXPECT_EQ(outcome.notes[1].action, Action::timeout);
}

TEST(SlurmControllerState, JobsThatAreNotReadyGetTheirPriorityAnewToo) {
  // Both are of one user; job 1 may not begin before 500.
  std::vector<Job> jobs(2, plain_job(0, 1, 600));
  for (Job& job : jobs) job.association = 1;
  jobs[1].conditions.begin = 500;
  const Scenario scenario(
      plain_machine(4), jobs,
      to_settings(
          {{"multifactor", 1}, {"PriorityWeightFairshare", 100}, {"PriorityCalcPeriod", 60}}),
      {}, {}, {root_account(), user_below(0), user_below(0)});
  ControllerState controller(scenario, -60, {}, 0);
  for (const int job : {0, 1}) controller.submit(job, 0);
  controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  controller.advance(59);
  EXPECT_EQ(controller.queue().priority(1), 100);
  controller.advance(60);  // the other user has used less
  EXPECT_EQ(controller.queue().priority(1), 50);
}

TEST(SlurmControllerState, LicencesAreFreeWhenAJobEnds) {
  Machine machine = plain_machine(4);
  machine.licences = {1};
  std::vector<Job> jobs(2, plain_job(0, 1, 100));
  for (Job& job : jobs) job.conditions.licences = {{0, 1}};
  const Scenario scenario = scenario_of(machine, jobs);
  ControllerState controller(scenario, -60, {});
  for (const int job : {0, 1}) controller.submit(job, 0);
  controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  EXPECT_FALSE(controller.licences().are_available(1));
  controller.end(0, 40, false);
  EXPECT_TRUE(controller.licences().are_available(1));
}

TEST(SlurmControllerState, AReleasedJobIsBehindAllSubmittedSoFar) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[0].conditions.is_held = true;
  for (const bool ages : {false, true}) {
    const Scenario scenario = scenario_of(plain_machine(4), jobs,
                                          {{"multifactor", ages ? 1.0 : 0.0},
                                           {"age_counts", 1},
                                           {"PriorityWeightAge", 1000},
                                           {"PriorityMaxAge", 1000}});
    ControllerState controller(scenario, -60, {});
    for (const int job : {0, 1}) controller.submit(job, 0);
    controller.release(0, 50);
    controller.submit(2, 50);
    controller.admit(50);
    if (ages) {
      EXPECT_EQ(controller.queue().priority(0), 1);  // its age begins when it is found ready
    } else {
      EXPECT_EQ(jobs_of(controller.queue()), (Nodes{1, 0, 2}));
    }
  }
}

TEST(SlurmControllerState, AJobThatRunsAgainIsBehindAllOthersSince24) {
  for (const bool since_24 : {false, true}) {
    const Scenario scenario =
        scenario_of(plain_machine(4), {plain_job(0, 1, 60), plain_job(0, 1, 60)},
                    {{"since_24", since_24 ? 1.0 : 0.0}});
    ControllerState controller(scenario, -60, {});
    for (const int job : {0, 1}) controller.submit(job, 0);
    controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    controller.terminate(0, 30, true);
    EXPECT_EQ(controller.queue().priority(0) < controller.queue().priority(1), since_24);
  }
}

// With a thread that accounts usage, which passes at 0, 100, 200, ...
Scenario with_passes(std::vector<Job> jobs) {
  return scenario_of(plain_machine(4), std::move(jobs),
                     {{"multifactor", 1},
                      {"age_counts", 1},
                      {"PriorityWeightAge", 1000},
                      {"PriorityMaxAge", 1000},
                      {"PriorityCalcPeriod", 100}});
}

TEST(SlurmControllerState, ARequeuedJobHasNoAgeUntilItIsReadyAgain) {
  const Scenario scenario = with_passes({plain_job(0, 1, 60)});
  ControllerState controller(scenario, -60, {});
  controller.submit(0, 0);
  controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  controller.terminate(0, 30, true);  // ready at 151
  controller.advance(100);
  EXPECT_EQ(controller.queue().priority(0), 1);
  controller.admit(151);
  controller.advance(200);
  EXPECT_EQ(controller.queue().priority(0), 49);
}

TEST(SlurmControllerState, NewPrioritiesAreMoreWorkWhereSomebodyWaits) {
  Conditions later, held_conditions;
  later.begin = 1000;
  held_conditions.is_held = true;
  const auto more_work = [](const Conditions& conditions) {
    Job job = plain_job(0, 1, 60);
    job.conditions = conditions;
    const Scenario scenario = with_passes({job});
    ControllerState controller(scenario, -60, {});
    controller.submit(0, 10);
    controller.advance(100.5);
    return controller.updates().has_changed_since(100);
  };
  EXPECT_TRUE(more_work({}));
  EXPECT_TRUE(more_work(later));
  EXPECT_FALSE(more_work(held_conditions));
}

TEST(SlurmControllerState, AgeCountsFromWhenAJobIsFoundReadyOrFromItsBegin) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[1].conditions.begin = 120;
  jobs[2].conditions.is_held = true;
  const Scenario scenario = with_passes(jobs);
  ControllerState controller(scenario, -60, {});
  for (const int job : {0, 1, 2}) controller.submit(job, 0);
  controller.advance(100);
  EXPECT_EQ(controller.queue().priority(0), 100);
  for (const int job : {1, 2}) EXPECT_EQ(controller.queue().priority(job), 1);
  controller.release(2, 120);
  controller.admit(150);
  controller.advance(200);
  EXPECT_EQ(controller.queue().priority(0), 200);
  EXPECT_EQ(controller.queue().priority(1), 80);
  EXPECT_EQ(controller.queue().priority(2), 50);
}

TEST(SlurmControllerState, JobsEndWhenResvOverRunHasPassedBehindTheirReservation) {
  std::vector<Job> jobs{plain_job(0, 1, 900)};
  jobs[0].conditions.reservation = 0;
  for (const double over_run : {0.0, 60.0}) {
    const Scenario scenario(
        plain_machine(4), jobs, to_settings({{"ResvOverRun", over_run}}),
        {{.created_at = -10, .begin = 0, .end = 400, .nodes = nodes_from(0, 2, 4)}});
    ControllerState controller(scenario, -60, {});
    controller.submit(0, 0);
    controller.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    const auto end = 400 + static_cast<Second>(over_run);
    EXPECT_EQ(controller.overdue(end - 1), Nodes{});
    EXPECT_EQ(controller.overdue(end), Nodes{0});
  }
}

// Two jobs on the cores of a node of four; the second is of a higher tier.
struct Suspending {
  Suspending()
      : scenario(suspending(tiers_of({4}, {1, 2}), {shared_job(4, 100), shared_job(2, 300)})),
        controller(scenario, -60, {true, false}) {
    for (const int job : {0, 1}) controller.submit(job, job * 20);
    start(0, 4, 0);
  }
  void start(int job, int cores, double time) {
    NodeChoice choice = shares_from({{0, cores}}, 1);
    choice.partition = job;
    choice.cores = nodes_from(0, cores, 4);
    controller.start({job, job}, choice, time, Scheduler::main);
  }

  Scenario scenario;
  ControllerState controller;
};

TEST(SlurmControllerState, AJobStopsAtAStartAndGoesOnAtAnEpilog) {
  Suspending of;
  EXPECT_TRUE(of.controller.gang_switches().empty());
  of.start(1, 2, 20.5);
  ASSERT_EQ(of.controller.gang_switches().size(), 1u);
  EXPECT_EQ(of.controller.gang_switches()[0].job, 0);
  EXPECT_TRUE(of.controller.gang_switches()[0].is_suspended);
  EXPECT_TRUE(of.controller.allocations().is_suspended(0));
  of.controller.end(1, 70, false);
  EXPECT_EQ(of.controller.gang_switches().size(), 1u);
  of.controller.complete_epilog(1, 71.25);
  ASSERT_EQ(of.controller.gang_switches().size(), 2u);
  EXPECT_FALSE(of.controller.gang_switches()[1].is_suspended);
  EXPECT_EQ(of.controller.allocations().expected_end(0), 71 + 80);
  const Outcome outcome = std::move(of.controller).outcome();
  ASSERT_EQ(outcome.pauses.size(), 1u);
  EXPECT_EQ(outcome.pauses[0].job, 0);
  EXPECT_EQ(outcome.pauses[0].begin, 20.5);
  EXPECT_EQ(outcome.pauses[0].end, 71.25);
  EXPECT_EQ(outcome.core_ids[0], (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(outcome.notes.back().action, Action::resume);
}

TEST(SlurmControllerState, NoLimitEndsWhoStandsStill) {
  Suspending of;
  EXPECT_EQ(of.controller.overdue(100), Nodes{0});
  of.start(1, 2, 20);
  EXPECT_EQ(of.controller.overdue(200), Nodes{});
  EXPECT_EQ(of.controller.overdue(320), Nodes{1});
}

TEST(SlurmControllerState, WhoIsOverGoesOnNoMore) {
  Suspending of;
  of.start(1, 2, 20);
  of.controller.terminate(0, 30, false);
  of.controller.end(1, 70, false);
  of.controller.complete_epilog(1, 71);
  EXPECT_EQ(of.controller.gang_switches().size(), 1u);
}

TEST(SlurmControllerState, WhatRunsFromTheBeginningMayShareCores) {
  std::vector<Job> jobs{shared_job(3, 100), shared_job(2, 300), shared_job(1, 300)};
  jobs[1].partition = 1;
  for (Job& job : jobs) job.running_state = RunningState{-20, {{{0, job.cpus, 0}}, {}}};
  const Scenario scenario = suspending(tiers_of({4}, {1, 2}), jobs);
  ControllerState controller(scenario, -60, {});
  controller.adopt_running(0);
  EXPECT_EQ(controller.allocations().cores(0).to_list(), (Nodes{0, 1, 2}));
  controller.adopt_running(1);  // one core is free
  EXPECT_EQ(controller.allocations().cores(1).to_list(), (Nodes{0, 1}));
  EXPECT_TRUE(controller.allocations().is_suspended(0));
  controller.adopt_running(2);
  EXPECT_EQ(controller.allocations().cores(2).to_list(), Nodes{3});
  EXPECT_FALSE(controller.allocations().is_suspended(2));
}

}  // namespace
}  // namespace cosched::slurm
