#include "cosched/slurm/state/tables.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmTables, OverdueBehindOverTimeLimit) {
  const std::vector<Job> jobs{plain_job(0, 1, 100), plain_job(0, 1, 60), plain_job(0, 1, 300)};
  for (const double over : {0.0, 20.0, 4e18}) {
    const Scenario scenario = scenario_of(plain_machine(4), jobs, {{"OverTimeLimit", over}});
    Tables tables(scenario, -60, {});
    for (int job = 0; job < 3; ++job) {
      tables.submit(job, 0);
      tables.start({job, 0}, choice_from(job, job + 1, 4), 0.5, Scheduler::main);
    }
    EXPECT_EQ(tables.overdue(59), Nodes{});
    EXPECT_EQ(tables.overdue(100), over == 0 ? (Nodes{1, 0}) : over == 20 ? (Nodes{1}) : Nodes{});
  }
}

TEST(SlurmTables, AJobWithoutALimitIsNeverOverdue) {
  const Scenario scenario =
      scenario_of(plain_machine(4), {plain_job(0, 1, kNever), plain_job(0, 1, kYear)});
  Tables tables(scenario, -60, {});
  for (int job = 0; job < 2; ++job) {
    tables.submit(job, 0);
    tables.start({job, 0}, choice_from(job, job + 1, 4), 0.5, Scheduler::main);
  }
  EXPECT_EQ(tables.overdue(kYear), Nodes{1});
}

TEST(SlurmTables, CompleteWaitCountsFromTheEnd) {
  for (const Second wait : {0, 1, 10}) {
    const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 1, 100)},
                                          {{"CompleteWait", static_cast<double>(wait)}});
    Tables tables(scenario, -60, {});
    tables.submit(0, 0);
    tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    tables.end(0, 40, false);
    EXPECT_EQ(tables.completing(40 + wait), wait > 0);
    EXPECT_FALSE(tables.completing(41 + wait));
    tables.epilog(0, 40);
    EXPECT_FALSE(tables.completing(40));
  }
}

TEST(SlurmTables, EveryChangeIsMoreWork) {
  const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 1, 100)});
  Tables tables(scenario, -60, {true, false});
  EXPECT_TRUE(tables.updates.since(-60));
  EXPECT_FALSE(tables.updates.since(-59));
  tables.submit(0, 1);
  EXPECT_TRUE(tables.updates.since(1));
  tables.start({0, 0}, choice_from(1, 2, 4), 2.5, Scheduler::backfill);
  EXPECT_TRUE(tables.updates.since(2));
  EXPECT_FALSE(tables.updates.since(3));
  tables.end(0, 30, true);
  EXPECT_TRUE(tables.updates.since(30));
  tables.epilog(0, 31);
  EXPECT_TRUE(tables.updates.since(31));
  const Outcome outcome = std::move(tables.journal).outcome();
  EXPECT_EQ(outcome.start[0], 2);
  EXPECT_EQ(outcome.start_exact[0], 2.5);
  EXPECT_EQ(outcome.end[0], 30);
  EXPECT_EQ(outcome.killed[0], 1);
  EXPECT_EQ(outcome.by[0], 1);
  EXPECT_EQ(outcome.nodes[0], Nodes{1});
  ASSERT_EQ(outcome.notes.size(), 2u);
  EXPECT_EQ(outcome.notes[0].action, Action::start_backfill);
  EXPECT_EQ(outcome.notes[1].action, Action::timeout);
}

TEST(SlurmTables, JobsThatAreNotReadyGetTheirPriorityAnewToo) {
  // Both are of one user; job 1 may not begin before 500.
  std::vector<Job> jobs(2, plain_job(0, 1, 600));
  for (Job& job : jobs) job.association = 1;
  jobs[1].conditions.begin = 500;
  const Scenario scenario(
      plain_machine(4), jobs,
      to_settings(
          {{"multifactor", 1}, {"PriorityWeightFairshare", 100}, {"PriorityCalcPeriod", 60}}),
      {}, {}, {{-1, 1, false}, {0, 1, true}, {0, 1, true}});
  Tables tables(scenario, -60, {}, 0);
  for (const int job : {0, 1}) tables.submit(job, 0);
  tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  tables.advance(59);
  EXPECT_EQ(tables.queue.priority(1), 100);
  tables.advance(60);  // the other user has used less
  EXPECT_EQ(tables.queue.priority(1), 50);
}

TEST(SlurmTables, LicencesAreFreeWhenAJobEnds) {
  Machine machine = plain_machine(4);
  machine.licences = {1};
  std::vector<Job> jobs(2, plain_job(0, 1, 100));
  for (Job& job : jobs) job.conditions.licences = {{0, 1}};
  const Scenario scenario = scenario_of(machine, jobs);
  Tables tables(scenario, -60, {});
  for (const int job : {0, 1}) tables.submit(job, 0);
  tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  EXPECT_FALSE(tables.licences.enough(1));
  tables.end(0, 40, false);
  EXPECT_TRUE(tables.licences.enough(1));
}

TEST(SlurmTables, AReleasedJobIsBehindAllSubmittedSoFar) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[0].conditions.held = true;
  for (const bool ages : {false, true}) {
    const Scenario scenario = scenario_of(plain_machine(4), jobs,
                                          {{"multifactor", ages ? 1.0 : 0.0},
                                           {"age_counts", 1},
                                           {"PriorityWeightAge", 1000},
                                           {"PriorityMaxAge", 1000}});
    Tables tables(scenario, -60, {});
    for (const int job : {0, 1}) tables.submit(job, 0);
    tables.release(0, 50);
    tables.submit(2, 50);
    tables.admit(50);
    if (ages) {
      EXPECT_EQ(tables.queue.priority(0), 1);  // its age begins when it is found ready
    } else {
      EXPECT_EQ(jobs_of(tables.queue), (Nodes{1, 0, 2}));
    }
  }
}

TEST(SlurmTables, AJobThatRunsAgainIsBehindAllOthersSince24) {
  for (const bool since_24 : {false, true}) {
    const Scenario scenario =
        scenario_of(plain_machine(4), {plain_job(0, 1, 60), plain_job(0, 1, 60)},
                    {{"since_24", since_24 ? 1.0 : 0.0}});
    Tables tables(scenario, -60, {});
    for (const int job : {0, 1}) tables.submit(job, 0);
    tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    tables.stop(0, 30, true);
    EXPECT_EQ(tables.queue.priority(0) < tables.queue.priority(1), since_24);
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

TEST(SlurmTables, ARequeuedJobHasNoAgeUntilItIsReadyAgain) {
  const Scenario scenario = with_passes({plain_job(0, 1, 60)});
  Tables tables(scenario, -60, {});
  tables.submit(0, 0);
  tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  tables.stop(0, 30, true);  // ready at 151
  tables.advance(100);
  EXPECT_EQ(tables.queue.priority(0), 1);
  tables.admit(151);
  tables.advance(200);
  EXPECT_EQ(tables.queue.priority(0), 49);
}

TEST(SlurmTables, NewPrioritiesAreMoreWorkWhereSomebodyWaits) {
  Conditions later, held;
  later.begin = 1000;
  held.held = true;
  const auto more_work = [](const Conditions& conditions) {
    Job job = plain_job(0, 1, 60);
    job.conditions = conditions;
    const Scenario scenario = with_passes({job});
    Tables tables(scenario, -60, {});
    tables.submit(0, 10);
    tables.advance(100.5);
    return tables.updates.since(100);
  };
  EXPECT_TRUE(more_work({}));
  EXPECT_TRUE(more_work(later));
  EXPECT_FALSE(more_work(held));
}

TEST(SlurmTables, AgeCountsFromWhenAJobIsFoundReadyOrFromItsBegin) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[1].conditions.begin = 120;
  jobs[2].conditions.held = true;
  const Scenario scenario = with_passes(jobs);
  Tables tables(scenario, -60, {});
  for (const int job : {0, 1, 2}) tables.submit(job, 0);
  tables.advance(100);
  EXPECT_EQ(tables.queue.priority(0), 100);
  for (const int job : {1, 2}) EXPECT_EQ(tables.queue.priority(job), 1);
  tables.release(2, 120);
  tables.admit(150);
  tables.advance(200);
  EXPECT_EQ(tables.queue.priority(0), 200);
  EXPECT_EQ(tables.queue.priority(1), 80);
  EXPECT_EQ(tables.queue.priority(2), 50);
}

TEST(SlurmTables, JobsEndWhenResvOverRunHasPassedBehindTheirReservation) {
  std::vector<Job> jobs{plain_job(0, 1, 900)};
  jobs[0].conditions.reservation = 0;
  for (const double over_run : {0.0, 60.0}) {
    const Scenario scenario(plain_machine(4), jobs, to_settings({{"ResvOverRun", over_run}}),
                            {{-10, 0, 400, nodes_from(0, 2, 4)}});
    Tables tables(scenario, -60, {});
    tables.submit(0, 0);
    tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
    const auto end = 400 + static_cast<Second>(over_run);
    EXPECT_EQ(tables.overdue(end - 1), Nodes{});
    EXPECT_EQ(tables.overdue(end), Nodes{0});
  }
}

// Two jobs on the cores of a node of four; the second is of a higher tier.
struct Suspending {
  Suspending()
      : scenario(suspending(tiers_of({4}, {1, 2}), {shared_job(4, 100), shared_job(2, 300)})),
        tables(scenario, -60, {true, false}) {
    for (const int job : {0, 1}) tables.submit(job, job * 20);
    start(0, 4, 0);
  }
  void start(int job, int cores, double time) {
    Choice choice = shares_from({{0, cores}}, 1);
    choice.part = job;
    choice.cores = nodes_from(0, cores, 4);
    tables.start({job, job}, choice, time, Scheduler::main);
  }

  Scenario scenario;
  Tables tables;
};

TEST(SlurmTables, AJobStopsAtAStartAndGoesOnAtAnEpilog) {
  Suspending of;
  EXPECT_TRUE(of.tables.turned.empty());
  of.start(1, 2, 20.5);
  ASSERT_EQ(of.tables.turned.size(), 1u);
  EXPECT_EQ(of.tables.turned[0].job, 0);
  EXPECT_TRUE(of.tables.turned[0].suspended);
  EXPECT_TRUE(of.tables.allocations.suspended(0));
  of.tables.end(1, 70, false);
  EXPECT_EQ(of.tables.turned.size(), 1u);
  of.tables.epilog(1, 71.25);
  ASSERT_EQ(of.tables.turned.size(), 2u);
  EXPECT_FALSE(of.tables.turned[1].suspended);
  EXPECT_EQ(of.tables.allocations.due(0), 71 + 80);
  const Outcome outcome = std::move(of.tables.journal).outcome();
  ASSERT_EQ(outcome.pauses.size(), 1u);
  EXPECT_EQ(outcome.pauses[0].job, 0);
  EXPECT_EQ(outcome.pauses[0].from, 20.5);
  EXPECT_EQ(outcome.pauses[0].until, 71.25);
  EXPECT_EQ(outcome.units[0], (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(outcome.notes.back().action, Action::resume);
}

TEST(SlurmTables, NoLimitEndsWhoStandsStill) {
  Suspending of;
  EXPECT_EQ(of.tables.overdue(100), Nodes{0});
  of.start(1, 2, 20);
  EXPECT_EQ(of.tables.overdue(200), Nodes{});
  EXPECT_EQ(of.tables.overdue(320), Nodes{1});
}

TEST(SlurmTables, WhoIsOverGoesOnNoMore) {
  Suspending of;
  of.start(1, 2, 20);
  of.tables.stop(0, 30, false);
  of.tables.end(1, 70, false);
  of.tables.epilog(1, 71);
  EXPECT_EQ(of.tables.turned.size(), 1u);
}

TEST(SlurmTables, WhatRunsFromTheBeginningMayShareCores) {
  std::vector<Job> jobs{shared_job(3, 100), shared_job(2, 300), shared_job(1, 300)};
  jobs[1].partition = 1;
  for (Job& job : jobs) job.running = Running{-20, {{{0, job.cpus, 0}}, {}}};
  const Scenario scenario = suspending(tiers_of({4}, {1, 2}), jobs);
  Tables tables(scenario, -60, {});
  tables.hold(0);
  EXPECT_EQ(tables.allocations.cores(0).list(), (Nodes{0, 1, 2}));
  tables.hold(1);  // one core is free
  EXPECT_EQ(tables.allocations.cores(1).list(), (Nodes{0, 1}));
  EXPECT_TRUE(tables.allocations.suspended(0));
  tables.hold(2);
  EXPECT_EQ(tables.allocations.cores(2).list(), Nodes{3});
  EXPECT_FALSE(tables.allocations.suspended(2));
}

}  // namespace
}  // namespace cosched::slurm
