#include "cosched/cluster/slurm/policy.hpp"

#include <gtest/gtest.h>

#include "cosched/cluster/slurm/backfill_cycle.hpp"
#include "cosched/cluster/slurm/main_pass.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::cluster::slurm {
namespace {

// Root, its account, of it two users; QOS 0 with `qos` limits.  Jobs of two nodes each, the last of the second user.
Scenario limited(const Limits& qos, const Limits& account, const Limits& user, int jobs = 3) {
  Machine machine = plain_machine(8);
  machine.qos = {qos};
  std::vector<Job> all(static_cast<std::size_t>(jobs), plain_job(0, 2, 600));
  for (Job& job : all) {
    job.qos = 0;
    job.association = 2;
  }
  all.back().user = 1;
  all.back().association = 3;
  return Scenario(machine, all, to_settings({}), {}, {},
                  {{-1, 1, false}, {0, 1, false, account}, {1, 1, true, user}, {1, 1, true}});
}

Limits with(int Limits::*member, int value) {
  Limits limits;
  limits.*member = value;
  return limits;
}

TEST(SlurmPolicy, NodesOfAGroupTogether) {
  const Scenario by_qos = limited(with(&Limits::group_nodes, 4), {}, {});
  Policy policy(by_qos);
  EXPECT_TRUE(policy.may_start(0, 4));
  EXPECT_FALSE(policy.may_start(0, 5));
  policy.start(0, 2);
  EXPECT_TRUE(policy.may_start(2, 2));
  EXPECT_FALSE(policy.may_start(2, 3));  // all users of the QOS
  policy.end(0, 2);
  EXPECT_TRUE(policy.may_start(2, 4));
  const Scenario by_account = limited({}, with(&Limits::group_nodes, 4), {});
  Policy of(by_account);
  of.start(0, 2);
  EXPECT_TRUE(of.may_start(2, 2));
  EXPECT_FALSE(of.may_start(2, 3));
}

TEST(SlurmPolicy, ALimitOfTheQosStandsInPlaceOfTheAssociations) {
  const Scenario scenario =
      limited(with(&Limits::group_nodes, 6), with(&Limits::group_nodes, 2), {});
  EXPECT_TRUE(Policy(scenario).may_start(0, 6));
  const Scenario jobs = limited(with(&Limits::user_jobs, 2), {}, with(&Limits::jobs, 1));
  Policy policy(jobs);
  policy.start(0, 2);
  EXPECT_TRUE(policy.may_try(1));
}

TEST(SlurmPolicy, NodesAndJobsOfAUser) {
  const Scenario nodes = limited(with(&Limits::user_nodes, 3), {}, {});
  Policy policy(nodes);
  policy.start(0, 2);
  EXPECT_FALSE(policy.may_start(1, 2));
  EXPECT_TRUE(policy.may_start(1, 1));
  EXPECT_TRUE(policy.may_start(2, 2));  // another user
  for (const bool of_qos : {false, true}) {
    const Scenario jobs = limited(of_qos ? with(&Limits::user_jobs, 1) : Limits{}, {},
                                  of_qos ? Limits{} : with(&Limits::jobs, 1));
    Policy one(jobs);
    EXPECT_TRUE(one.may_try(0));
    one.start(0, 2);
    EXPECT_FALSE(one.may_try(1));
    EXPECT_TRUE(one.may_try(2));
  }
}

TEST(SlurmPolicy, AJobThatItWouldNeverAllowIsNotLookedAt) {
  EXPECT_FALSE(Policy(limited(with(&Limits::job_nodes, 1), {}, {})).may_try(0));
  EXPECT_TRUE(Policy(limited(with(&Limits::job_nodes, 2), {}, {})).may_try(0));
  EXPECT_FALSE(Policy(limited({}, {}, with(&Limits::job_nodes, 1))).may_try(0));
  EXPECT_FALSE(Policy(limited({}, with(&Limits::group_nodes, 1), {})).may_try(0));
}

TEST(SlurmPolicy, AJobOverALimitBlocksNobodyAndHasNoPlan) {
  const Scenario scenario = limited(with(&Limits::user_nodes, 3), {}, {});
  Tables tables(scenario, -60, {false, true});
  Select select(scenario, tables.allocations, 0);
  for (int job = 0; job < 3; ++job) tables.submit(job, job);
  EXPECT_EQ(main_pass(tables, select, 50, true), (Nodes{0, 2}));
  const Clocks clocks;
  BackfillCycle cycle(clocks, tables, select);
  EXPECT_EQ(cycle.run(60), Nodes{});
  tables.end(0, 100, false);
  tables.epilog(0, 101);
  EXPECT_EQ(cycle.run(110), Nodes{1});
  for (const Note& note : std::move(tables.journal).outcome().notes)
    EXPECT_NE(note.action, Action::plan);
}

}  // namespace
}  // namespace cosched::cluster::slurm
