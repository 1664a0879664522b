#include "cosched/slurm/limits/accounting_policy.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/select/node_choice.hpp"
#include "cosched/slurm/select/select.hpp"
#include "cosched/slurm/simulate/main_pass.hpp"
#include "cosched/slurm/state/controller_state.hpp"
#include "cosched/slurm/state/limit_blocks.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

Limits limits_of(std::vector<Limit> all) { return {std::move(all)}; }
Qos qos_of(std::vector<Limit> all) {
  Qos qos;
  qos.limits = std::move(all);
  return qos;
}

// Root, its account, of it two users; eight nodes of four CPUs.  Jobs of two nodes for ten minutes
// each, the last of the second user.
struct Site {
  Qos qos = {};
  Limits account = {}, user = {};
  std::map<std::string, double> settings = {};
  int jobs = 3;
  Scenario scenario() const {
    Machine machine = plain_machine(8);
    machine.cpus = 32;
    machine.qos = {qos};
    std::vector<Job> all(static_cast<std::size_t>(jobs), plain_job(0, 2, 600));
    for (Job& job : all) {
      job.qos = 0;
      job.association = 2;
    }
    all.back().user = 1;
    all.back().association = 3;
    return Scenario(
        machine, all, to_settings(settings), {}, {},
        {root_account(), account_below(0, account), user_below(1, user), user_below(1)});
  }
};

QueueEntry of(int job) { return {job, 0}; }
void start(AccountingPolicy& policy, int job, int first, int last, Second now = 0) {
  policy.start(of(job), choice_from(first, last, 8), now);
}
bool fits(const AccountingPolicy& policy, int job, int nodes) {
  return !policy.violation_with_nodes(of(job), nodes);
}
std::string name_of(AccountingPolicy::Violation violation) {
  return violation ? reason_of(*violation) : "";
}

TEST(SlurmAccountingPolicy, NodesOfAGroupTogether) {
  for (const bool by_account : {false, true}) {
    Site site;
    const Limit node_limit{Kind::group, kNode, 4};
    (by_account ? site.account.limits : site.qos.limits) = {node_limit};
    const Scenario scenario = site.scenario();
    AccountingPolicy policy(scenario, 0);
    EXPECT_TRUE(fits(policy, 0, 4));
    EXPECT_FALSE(fits(policy, 0, 5));
    start(policy, 0, 0, 2);
    EXPECT_TRUE(fits(policy, 2, 2));
    EXPECT_FALSE(fits(policy, 2, 3));  // all users of it
    EXPECT_EQ(name_of(policy.violation_with_nodes(of(2), 3)),
              by_account ? "AssocGrpNodeLimit" : "QOSGrpNodeLimit");
    policy.end(0, 10, true);
    EXPECT_TRUE(fits(policy, 2, 4));
  }
}

TEST(SlurmAccountingPolicy, NodesThatAGroupHasCountOnce) {
  Site site;
  site.qos = qos_of({{Kind::group, kNode, 3}});
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  start(policy, 0, 0, 2);
  const NodeChoice overlap = choice_from(1, 3, 8), other = choice_from(2, 4, 8);
  EXPECT_FALSE(policy.violation_with_nodes(of(1), &overlap));  // one node more
  EXPECT_TRUE(policy.violation_with_nodes(of(1), &other));
  start(policy, 1, 1, 3);
  policy.end(0, 10, true);
  EXPECT_TRUE(fits(policy, 2, 1));
  EXPECT_FALSE(fits(policy, 2, 2));
}

TEST(SlurmAccountingPolicy, CpusOfAUserAndOfAnAccountInAQos) {
  for (const Kind kind : {Kind::user, Kind::account}) {
    Site site;
    site.qos = qos_of({{kind, kCpu, 12}});
    const Scenario scenario = site.scenario();
    AccountingPolicy policy(scenario, 0);
    start(policy, 0, 0, 2);  // 8 CPUs
    EXPECT_TRUE(fits(policy, 1, 1));
    EXPECT_FALSE(fits(policy, 1, 2));
    EXPECT_EQ(fits(policy, 2, 2), kind == Kind::user);  // another user of the account
    EXPECT_EQ(name_of(policy.violation_with_nodes(of(1), 2)),
              kind == Kind::user ? "QOSMaxCpuPerUserLimit" : "MaxCpuPerAccount");
  }
}

TEST(SlurmAccountingPolicy, NumbersOfJobs) {
  const auto violation_of = [](const Site& site, int job) {
    const Scenario scenario = site.scenario();
    AccountingPolicy policy(scenario, 0);
    EXPECT_EQ(policy.violation_before_nodes(of(job)), nullptr);
    start(policy, 0, 0, 2);
    return name_of(policy.violation_before_nodes(of(job)));
  };
  Site site;
  site.qos = qos_of({{Kind::user_jobs, -1, 1}});
  EXPECT_EQ(violation_of(site, 1), "QOSMaxJobsPerUserLimit");
  EXPECT_EQ(violation_of(site, 2), "");
  site.qos = qos_of({{Kind::account_jobs, -1, 1}});
  EXPECT_EQ(violation_of(site, 2), "MaxJobsPerAccount");
  site.qos = qos_of({{Kind::group_jobs, -1, 1}});
  EXPECT_EQ(violation_of(site, 2), "QOSGrpJobsLimit");
  site = {};
  site.user = limits_of({{Kind::jobs, -1, 1}});
  EXPECT_EQ(violation_of(site, 1), "AssocMaxJobsLimit");
  EXPECT_EQ(violation_of(site, 2), "");
  site = {};
  site.account = limits_of({{Kind::group_jobs, -1, 1}});
  EXPECT_EQ(violation_of(site, 2), "AssocGrpJobsLimit");
  site = {};
  site.account = limits_of({{Kind::jobs, -1, 1}});  // of each of its users
  EXPECT_EQ(violation_of(site, 1), "AssocMaxJobsLimit");
  EXPECT_EQ(violation_of(site, 2), "");
  site.user = limits_of({{Kind::jobs, -1, 2}});  // the user's own in its place
  EXPECT_EQ(violation_of(site, 1), "");
}

TEST(SlurmAccountingPolicy, ALimitOfTheQosStandsInPlaceOfTheAssociations) {
  Site site;
  site.qos = qos_of({{Kind::group, kNode, 6}});
  site.account = limits_of({{Kind::group, kNode, 2}, {Kind::group, kCpu, 20}});
  const Scenario scenario = site.scenario();
  EXPECT_TRUE(fits(AccountingPolicy(scenario, 0), 0, 5));
  EXPECT_FALSE(fits(AccountingPolicy(scenario, 0), 0, 6));  // of CPUs the QOS says nothing
  site = {};
  site.qos = qos_of({{Kind::account_jobs, -1, 2}});
  site.user = limits_of({{Kind::jobs, -1, 1}});
  const Scenario jobs = site.scenario();
  AccountingPolicy policy(jobs, 0);
  start(policy, 0, 0, 2);
  EXPECT_EQ(policy.violation_before_nodes(of(1)), nullptr);
}

TEST(SlurmAccountingPolicy, TheQosOfThePartitionComesFirst) {
  for (const bool over_partition : {false, true}) {
    Site site;
    Machine machine = plain_machine(8);
    machine.qos = {qos_of({{Kind::job, kNode, 3}}),
                   qos_of({{Kind::job, kNode, 5}, {Kind::min, kNode, 2}})};
    machine.qos[0].overrides_partition_qos = over_partition;
    machine.partitions[0].qos = 1;
    Job job = plain_job(0, 1, 600);
    job.qos = 0;
    const Scenario scenario(machine, {job, job}, to_settings({}));
    AccountingPolicy policy(scenario, 0);
    EXPECT_EQ(fits(policy, 0, 4), !over_partition);
    EXPECT_EQ(fits(policy, 0, 6), false);
    EXPECT_EQ(fits(policy, 0, 1), false);  // of the least, one of them says something
  }
}

TEST(SlurmAccountingPolicy, AQosThatIsThePartitionsTooCountsOnce) {
  Machine machine = plain_machine(8);
  machine.qos = {qos_of({{Kind::group_jobs, -1, 2}})};
  machine.partitions[0].qos = 0;
  Job job = plain_job(0, 1, 600);
  job.qos = 0;
  const Scenario scenario(machine, {job, job}, to_settings({}));
  AccountingPolicy policy(scenario, 0);
  start(policy, 0, 0, 1);
  EXPECT_EQ(policy.violation_before_nodes(of(1)), nullptr);
}

TEST(SlurmAccountingPolicy, LimitFactorMultipliesLimitsOfAssociations) {
  Site site;
  site.qos.limit_factor = 2;
  site.account = limits_of({{Kind::group, kNode, 3}});
  site.user = limits_of({{Kind::job, kCpu, 10}});
  const Scenario scenario = site.scenario();
  const AccountingPolicy policy(scenario, 0);
  EXPECT_TRUE(fits(policy, 0, 5));  // of four CPUs each
  EXPECT_EQ(name_of(policy.violation_with_nodes(of(0), 6)), "AssocMaxCpuPerJobLimit");
  EXPECT_TRUE(fits(policy, 2, 6));  // the other user
  EXPECT_EQ(name_of(policy.violation_with_nodes(of(2), 7)), "AssocGrpNodeLimit");
}

TEST(SlurmAccountingPolicy, SizesOfAJob) {
  const auto reason = [](Limit limit, int nodes) {
    Site site;
    site.qos = qos_of({limit});
    const Scenario scenario = site.scenario();
    return name_of(AccountingPolicy(scenario, 0).violation_with_nodes(of(0), nodes));
  };
  EXPECT_EQ(reason({Kind::job, kCpu, 8}, 2), "");
  EXPECT_EQ(reason({Kind::job, kCpu, 8}, 3), "QOSMaxCpuPerJobLimit");
  EXPECT_EQ(reason({Kind::node, kCpu, 4}, 3), "");
  EXPECT_EQ(reason({Kind::node, kCpu, 3}, 3), "QOSMaxCpuPerNode");
  EXPECT_EQ(reason({Kind::min, kNode, 2}, 2), "");
  EXPECT_EQ(reason({Kind::min, kNode, 3}, 2), "QOSMinNode");
  EXPECT_EQ(reason({Kind::job_minutes, kCpu, 80}, 2), "");
  EXPECT_EQ(reason({Kind::job_minutes, kCpu, 79}, 2), "QOSMaxCpuMinutesPerJobLimit");
}

TEST(SlurmAccountingPolicy, AJobThatItWouldNeverAllowIsNotLookedAt) {
  const auto reason = [](const Site& site) {
    const Scenario scenario = site.scenario();
    return name_of(AccountingPolicy(scenario, 0).violation_before_nodes(of(0)));
  };
  Site site;
  site.qos = qos_of({{Kind::job, kNode, 1}});
  EXPECT_EQ(reason(site), "QOSMaxNodePerJobLimit");
  site.qos = qos_of({{Kind::job, kNode, 2}});
  EXPECT_EQ(reason(site), "");
  site.qos = qos_of({{Kind::wall, -1, 9}});
  EXPECT_EQ(reason(site), "QOSMaxWallDurationPerJobLimit");
  site.qos = qos_of({{Kind::wall, -1, 10}});
  EXPECT_EQ(reason(site), "");
  site.user = limits_of({{Kind::job, kNode, 1}});
  EXPECT_EQ(reason(site), "AssocMaxNodePerJobLimit");
  site.user = {};
  site.account = limits_of({{Kind::group, kNode, 1}});
  EXPECT_EQ(reason(site), "AssocGrpNodeLimit");
}

TEST(SlurmAccountingPolicy, MinutesThatMayStillBeUsed) {
  Site site;
  site.qos = qos_of({{Kind::group_run_minutes, kCpu, 150}});
  site.settings = {{"PriorityCalcPeriod", 60}};
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  start(policy, 0, 0, 2);  // 8 CPUs for 10 minutes
  EXPECT_FALSE(fits(policy, 1, 2));
  policy.advance(59);
  EXPECT_FALSE(fits(policy, 1, 2));
  policy.advance(60);  // a pass: 72 are left
  EXPECT_EQ(name_of(policy.violation_with_nodes(of(1), 2)), "QOSGrpCPURunMinutesLimit");
  policy.advance(120);
  EXPECT_TRUE(fits(policy, 1, 2));
  policy.end(0, 130, true);
  start(policy, 1, 0, 2, 130);
  EXPECT_FALSE(fits(policy, 2, 2));
}

TEST(SlurmAccountingPolicy, MinutesOfAUserOrAnAccountThatMayStillBeUsed) {
  for (const Kind kind : {Kind::user_run_minutes, Kind::account_run_minutes}) {
    const bool by_user = kind == Kind::user_run_minutes;
    Site site;
    site.qos = qos_of({{kind, kCpu, 150}});
    site.settings = {{"PriorityCalcPeriod", 60}, {"since_24", 1}};
    const Scenario scenario = site.scenario();
    AccountingPolicy policy(scenario, 0);
    start(policy, 0, 0, 2);  // 8 CPUs for 10 minutes
    EXPECT_EQ(name_of(policy.violation_with_nodes(of(1), 2)),
              by_user ? "MaxCpuRunMinsPerUser" : "MaxCpuRunMinsPerAccount");
    EXPECT_EQ(fits(policy, 2, 2), by_user);  // another user of the account
    policy.advance(120);
    EXPECT_TRUE(fits(policy, 1, 2));
    site.settings["since_24"] = 0;  // which does not look at them
    const Scenario older = site.scenario();
    AccountingPolicy none(older, 0);
    start(none, 0, 0, 2);
    EXPECT_TRUE(fits(none, 1, 2));
  }
}

TEST(SlurmAccountingPolicy, MinutesThatHaveBeenUsed) {
  Site site;
  site.account = limits_of({{Kind::group_minutes, kCpu, 100, 90}});
  site.settings = {{"PriorityCalcPeriod", 60}, {"PriorityDecayHalfLife", 0}};
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  EXPECT_TRUE(fits(policy, 0, 2));  // without `safe`, what is to come does not count
  start(policy, 0, 0, 2);
  policy.advance(60);
  EXPECT_EQ(policy.exceeded_group_limit(0), nullptr);
  policy.advance(120);  // 90 + 16
  EXPECT_EQ(name_of(policy.exceeded_group_limit(0)), "AssocGrpCPUMinutesLimit");
  EXPECT_EQ(name_of(policy.violation_with_nodes(of(1), 2)), "AssocGrpCPUMinutesLimit");
  site.settings["safe_limits"] = 1;
  const Scenario safe = site.scenario();
  EXPECT_FALSE(fits(AccountingPolicy(safe, 0), 0, 2));
  site.account.limits[0].used_before = 20;
  const Scenario enough = site.scenario();
  EXPECT_TRUE(fits(AccountingPolicy(enough, 0), 0, 2));
}

TEST(SlurmAccountingPolicy, WhatAJobUsedBeforeTheBeginIsInTheUsageThatIsGiven) {
  Site site;
  site.account =
      limits_of({{Kind::group_minutes, kCpu, 100, 90}, {Kind::group_run_minutes, kCpu, 144}});
  site.settings = {{"PriorityCalcPeriod", 60}, {"PriorityDecayHalfLife", 0}};
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  start(policy, 0, 0, 2, -120);  // 8 minutes of 8 CPUs are left
  policy.advance(0);
  EXPECT_EQ(policy.exceeded_group_limit(0), nullptr);
  EXPECT_TRUE(fits(policy, 1, 2));
  policy.advance(60);
  EXPECT_EQ(policy.exceeded_group_limit(0), nullptr);  // 98
  policy.advance(120);
  EXPECT_NE(policy.exceeded_group_limit(0), nullptr);
}

TEST(SlurmAccountingPolicy, UsageFades) {
  Site site;
  site.account = limits_of({{Kind::group_minutes, kCpu, 100, 150}, {Kind::group_wall, -1, 50, 50}});
  site.settings = {{"PriorityCalcPeriod", 60}, {"PriorityDecayHalfLife", 3600}};
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  EXPECT_EQ(name_of(policy.violation_before_nodes(of(0))), "AssocGrpWallLimit");
  EXPECT_FALSE(fits(policy, 0, 2));
  policy.advance(3600);
  EXPECT_EQ(policy.violation_before_nodes(of(0)), nullptr);
  EXPECT_TRUE(fits(policy, 0, 2));
  site.qos.no_decay = true;
  site.qos.limits = site.account.limits;
  const Scenario fixed_scenario = site.scenario();
  AccountingPolicy fixed(fixed_scenario, 0);
  fixed.advance(3600);
  EXPECT_EQ(name_of(fixed.violation_before_nodes(of(0))), "QOSGrpWallLimit");
}

TEST(SlurmAccountingPolicy, TheUsageFactorOfAQos) {
  Site site;
  site.qos = qos_of({{Kind::group_run_minutes, kCpu, 150}});
  site.qos.usage_factor = 0.5;
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  start(policy, 0, 0, 2);  // 40 in place of 80; the new one counts whole
  EXPECT_TRUE(fits(policy, 1, 2));
  site.qos.usage_factor = 1;
  site.qos.is_usage_factor_safe = true;
  const Scenario plain = site.scenario();
  AccountingPolicy whole_price(plain, 0);
  start(whole_price, 0, 0, 2);
  EXPECT_FALSE(fits(whole_price, 1, 2));
}

TEST(SlurmAccountingPolicy, RefusedAtSubmission) {
  Site site;
  site.qos = qos_of({{Kind::user_submit, -1, 2}, {Kind::job, kNode, 1}});
  const Scenario scenario = site.scenario();
  AccountingPolicy policy(scenario, 0);
  EXPECT_EQ(policy.violation_at_submission(0, 2), nullptr);  // too large a job is held, not refused
  EXPECT_EQ(name_of(policy.violation_at_submission(0, 3)), "QOSMaxSubmitJobPerUserLimit");
  policy.submit(0);
  EXPECT_EQ(policy.violation_at_submission(1, 1), nullptr);
  policy.submit(1);
  EXPECT_NE(policy.violation_at_submission(1, 1), nullptr);
  EXPECT_EQ(policy.violation_at_submission(2, 1), nullptr);  // another user
  start(policy, 0, 0, 2);
  EXPECT_NE(policy.violation_at_submission(1, 1), nullptr);  // it is there until it ends
  policy.end(0, 10, true);
  EXPECT_EQ(policy.violation_at_submission(1, 1), nullptr);
  site.qos.denies_on_limit = true;
  const Scenario denying = site.scenario();
  EXPECT_EQ(name_of(AccountingPolicy(denying, 0).violation_at_submission(0, 1)),
            "QOSMaxNodePerJobLimit");
}

TEST(SlurmAccountingPolicy, AJobOverALimitBlocksNobodyAndHasNoPlan) {
  Site site;
  site.qos = qos_of({{Kind::user, kNode, 3}});
  const Scenario scenario = site.scenario();
  ControllerState controller(scenario, -60, {true, true});
  Select select(scenario, controller.allocations(), 0);
  for (int job = 0; job < 3; ++job) controller.submit(job, job);
  EXPECT_EQ(main_pass(controller, select, 50, true), (Nodes{0, 2}));
  const Clocks clocks;
  BackfillCycle cycle(clocks, controller, select);
  EXPECT_EQ(cycle.run(60), Nodes{});
  controller.end(0, 100, false);
  controller.complete_epilog(0, 101);
  EXPECT_EQ(cycle.run(110), Nodes{1});
  bool is_noted = false;
  for (const DecisionNote& note : std::move(controller).outcome().notes) {
    EXPECT_NE(note.action, Action::plan);
    is_noted = is_noted || (note.job == 1 && note.limit == "QOSMaxNodePerUserLimit");
  }
  EXPECT_TRUE(is_noted);
}

// Of nodes of 4 and 8 cores the small one is taken: a whole node has six on the average, and this
// one more than it may.
TEST(SlurmAccountingPolicy, AJobThatIsOverALimitOnTheNodesItWouldStartOnHasNoPlan) {
  for (const double cpu_limit : {7, 8}) {
    Machine machine = shared_machine({4, 8});
    machine.qos = {qos_of({{Kind::job, kCpu, cpu_limit}})};
    std::vector<Job> jobs(2, shared_job(1, 600));
    jobs[1].request.is_exclusive = true;
    jobs[1].qos = 0;
    const Scenario scenario = scenario_of(machine, jobs, {{"cons_tres", 1}});
    ControllerState controller(scenario, -60, {true, true});
    Select select(scenario, controller.allocations(), 0);
    controller.start({0, 0}, shares_from({{0, 1}}, 2), 0, Scheduler::main);
    controller.submit(1, 5);
    const Clocks clocks;
    BackfillCycle cycle(clocks, controller, select);
    EXPECT_EQ(cycle.run(60), cpu_limit < 8 ? Nodes{} : Nodes{1});
    for (const DecisionNote& note : std::move(controller).outcome().notes)
      EXPECT_NE(note.action, Action::plan);
  }
}

TEST(SlurmAccountingPolicy, WhoMustEnd) {
  Site site;
  site.qos = qos_of({{Kind::user, kNode, 3}});
  Scenario scenario = site.scenario();
  std::vector<Job> jobs = scenario.jobs();
  jobs[0].running_state = RunningState{0, choice_from(0, 2, 8).shares};
  for (const int node : {0, 1}) jobs[0].running_state->shares.nodes.push_back({node, 0, 0});
  const Scenario changed(scenario.machine(), jobs, scenario.settings(), {}, {},
                         scenario.accounts());
  const auto all = limit_blocks(changed);
  ASSERT_TRUE(all[1]);
  EXPECT_EQ(all[1]->reason, "QOSMaxNodePerUserLimit");
  EXPECT_EQ(all[1]->limit, 3);
  EXPECT_EQ(all[1]->used, 2);
  EXPECT_EQ(all[1]->blocking_jobs, Nodes{0});
  EXPECT_FALSE(all[2]);
  EXPECT_FALSE(all[0]);
}

}  // namespace
}  // namespace cosched::slurm
