#include "cosched/cluster/slurm/tables.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::cluster::slurm {
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

TEST(SlurmTables, CompleteWaitCountsFromTheEnd) {
  const Scenario scenario =
      scenario_of(plain_machine(4), {plain_job(0, 1, 100)}, {{"CompleteWait", 10}});
  Tables tables(scenario, -60, {});
  tables.submit(0, 0);
  tables.start({0, 0}, choice_from(0, 1, 4), 0, Scheduler::main);
  tables.end(0, 40, false);
  EXPECT_TRUE(tables.completing(50));
  EXPECT_FALSE(tables.completing(51));
  tables.epilog(0, 45);
  EXPECT_FALSE(tables.completing(46));
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

}  // namespace
}  // namespace cosched::cluster::slurm
