#include "cosched/slurm/select/preemption.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/select/select.hpp"
#include "cosched/slurm/simulate/main_pass.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

using Parameters = std::map<std::string, double>;

// Eight nodes in a partition of tier 1 and one of tier 2 (job.partition 0 and 1).
Machine two_tiers() {
  Machine machine = plain_machine(8);
  machine.partitions.push_back(machine.partitions[0]);
  machine.partitions[1].tier = 2;
  return machine;
}

Parameters by_partition(Parameters parameters = {}) {
  parameters.insert({{"PreemptType", 1}, {"PreemptMode", 2}, {"cons_tres", 1}});
  return parameters;
}

// The jobs of `ranges` run on their nodes since their second, the last job waits in the upper
// partition.
struct Preempting {
  Preempting(Machine machine, std::vector<Job> jobs, const Parameters& parameters,
             const std::vector<std::pair<int, int>>& ranges)
      : scenario(std::move(machine), std::move(jobs), to_settings(parameters)),
        controller(scenario, -60, {true, true}),
        select(scenario, controller.allocations(), 0),
        every(nodes_from(0, scenario.machine().nodes, scenario.machine().nodes)) {
    const int count = scenario.machine().nodes;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const int job = static_cast<int>(k);
      const double time = scenario.job(job).submit;
      controller.submit(job, time);
      controller.start({job, scenario.job(job).partition},
                       choice_from(ranges[k].first, ranges[k].second, count), time,
                       Scheduler::main);
    }
    controller.clear_queue();
    last = static_cast<int>(scenario.jobs().size()) - 1;
  }
  QueueEntry entry(int job) const { return {job, scenario.job(job).partition}; }
  Nodes victims(Second now = 100) {
    return controller.choose_victims(entry(last), every, now, select).jobs;
  }
  Nodes candidates(Second now = 100) const {
    return controller.preemption().candidates(entry(last), now);
  }

  Scenario scenario;
  ControllerState controller;
  Select select;
  NodeBits every;
  int last;
};

// Jobs of so many nodes in the lower partition, and one that wants `wanted` in the upper.
std::vector<Job> lower_and_one(const std::vector<int>& sizes, int wanted) {
  std::vector<Job> jobs;
  for (const int size : sizes)
    jobs.push_back(plain_job(static_cast<double>(jobs.size()), size, 600));
  jobs.push_back(plain_job(50, wanted, 600, 10, 1));
  return jobs;
}

TEST(SlurmPreempt, OfALowerTierThatSharesNodes) {
  Machine machine = two_tiers();
  const std::vector<Job> jobs = lower_and_one({1}, 1);
  const Scenario on = scenario_of(machine, jobs, by_partition());
  EXPECT_TRUE(may_preempt(on, {1, 1}, {0, 0}));
  EXPECT_FALSE(may_preempt(on, {0, 0}, {1, 1}));
  EXPECT_FALSE(may_preempt(on, {1, 1}, {1, 1}));
  EXPECT_FALSE(may_preempt(scenario_of(machine, jobs, {{"PreemptType", 1}}), {1, 1}, {0, 0}));
  machine.partitions[0].nodes = nodes_from(0, 4, 8);
  machine.partitions[1].nodes = nodes_from(4, 8, 8);
  EXPECT_FALSE(may_preempt(scenario_of(machine, jobs, by_partition()), {1, 1}, {0, 0}));
}

TEST(SlurmPreempt, OfAQosThatIsListed) {
  Machine machine = plain_machine(8);
  machine.qos.resize(3);
  machine.qos[1].preempts = {0};
  std::vector<Job> jobs(3, plain_job(0, 1, 600));
  for (int job = 0; job < 3; ++job) jobs[static_cast<std::size_t>(job)].qos = job;
  const Scenario scenario = scenario_of(machine, jobs, {{"PreemptType", 2}, {"PreemptMode", 1}});
  EXPECT_TRUE(may_preempt(scenario, {1, 0}, {0, 0}));
  EXPECT_FALSE(may_preempt(scenario, {0, 0}, {1, 0}));
  EXPECT_FALSE(may_preempt(scenario, {1, 0}, {2, 0}));
  EXPECT_FALSE(may_preempt(scenario, {2, 0}, {0, 0}));
}

TEST(SlurmPreempt, WhoMayPreemptComesFirst) {
  Machine machine = plain_machine(8);
  machine.qos.resize(2);
  machine.qos[1].preempts = {0};
  std::vector<Job> jobs(2, plain_job(0, 1, 600));
  jobs[0].qos = 0;
  jobs[1].qos = 1;
  for (const bool preempts : {false, true}) {
    const Scenario scenario =
        scenario_of(machine, jobs, {{"PreemptType", preempts ? 2.0 : 0.0}, {"PreemptMode", 1}});
    ControllerState controller(scenario, -60, {});
    for (const int job : {0, 1}) controller.submit(job, job);
    EXPECT_EQ(jobs_of(controller.queue()), preempts ? (Nodes{1, 0}) : (Nodes{0, 1}));
  }
}

TEST(SlurmPreempt, NotThoseThatAreOffOrTooYoung) {
  Machine machine = two_tiers();
  const std::vector<Job> jobs = lower_and_one({2, 2}, 6);
  EXPECT_EQ(Preempting(machine, jobs, by_partition(), {{0, 2}, {2, 4}}).candidates(),
            (Nodes{0, 1}));
  const Parameters exempt = by_partition({{"PreemptExemptTime", 60}});
  EXPECT_EQ(Preempting(machine, jobs, exempt, {{0, 2}, {2, 4}}).candidates(59), Nodes{});
  EXPECT_EQ(Preempting(machine, jobs, exempt, {{0, 2}, {2, 4}}).candidates(60), Nodes{0});
  machine.partitions[0].preempt_mode = 0;
  EXPECT_EQ(Preempting(machine, jobs, by_partition(), {{0, 2}, {2, 4}}).candidates(), Nodes{});
}

TEST(SlurmPreempt, TheExemptTimeIsThatOfThePartitionsQosElseOfItsOwnElseTheClusters) {
  Machine machine = two_tiers();
  machine.qos.resize(3);
  machine.qos[0].preempt_exempt_time = 50;
  machine.qos[1].preempt_exempt_time = 20;  // qos[2] says nothing
  const auto exempt_for = [&](int qos, int of_part, Second time) {
    machine.partitions[0].qos = of_part;
    std::vector<Job> jobs = lower_and_one({2}, 8);
    jobs[0].qos = qos;
    const Preempting site(machine, jobs, by_partition({{"PreemptExemptTime", 90}}), {{0, 2}});
    return site.candidates(time - 1).empty() && !site.candidates(time).empty();
  };
  EXPECT_TRUE(exempt_for(0, 1, 20));
  EXPECT_TRUE(exempt_for(0, -1, 50));
  EXPECT_TRUE(exempt_for(0, 2, 50));
  EXPECT_TRUE(exempt_for(-1, -1, 90));
}

TEST(SlurmPreempt, SmallOnesFirstOrTheYoungest) {
  const std::vector<Job> jobs = lower_and_one({3, 1, 2}, 8);
  const std::vector<std::pair<int, int>> where{{0, 3}, {3, 4}, {4, 6}};
  EXPECT_EQ(Preempting(two_tiers(), jobs, by_partition(), where).candidates(), (Nodes{1, 2, 0}));
  const Parameters youngest = by_partition({{"preempt_youngest_first", 1}});
  EXPECT_EQ(Preempting(two_tiers(), jobs, youngest, where).candidates(), (Nodes{2, 1, 0}));
}

TEST(SlurmPreempt, AQosOfLowPriorityFirst) {
  Machine machine = plain_machine(8);
  machine.qos.resize(3);
  machine.qos[0].priority = 10;
  machine.qos[1].priority = 5;
  machine.qos[2].preempts = {0, 1};
  std::vector<Job> jobs = lower_and_one({1, 4}, 8);
  for (int job = 0; job < 3; ++job) {
    jobs[static_cast<std::size_t>(job)].qos = job;
    jobs[static_cast<std::size_t>(job)].partition = 0;
  }
  const Parameters by_qos{{"PreemptType", 2}, {"PreemptMode", 1}, {"cons_tres", 1}};
  EXPECT_EQ(Preempting(machine, jobs, by_qos, {{0, 1}, {1, 5}}).candidates(), (Nodes{1, 0}));
}

TEST(SlurmPreempt, NobodyWhereItDoesNotHelp) {
  std::vector<Job> jobs = lower_and_one({2}, 4);
  jobs.insert(jobs.begin() + 1, plain_job(1, 6, 600, 10, 1));  // of its own partition
  EXPECT_EQ(Preempting(two_tiers(), jobs, by_partition(), {{0, 2}, {2, 8}}).victims(), Nodes{});
}

TEST(SlurmPreempt, TheLastThatMadeItPossibleIsTriedFirst) {
  // In order 0 (one node), 1 (three), 2 (four): four nodes need 0 and 1, whoever of them is first.
  const std::vector<Job> jobs = lower_and_one({1, 3, 4}, 4);
  const std::vector<std::pair<int, int>> where{{0, 1}, {1, 4}, {4, 8}};
  EXPECT_EQ(Preempting(two_tiers(), jobs, by_partition(), where).victims(), (Nodes{0, 1}));
  // Three nodes need 1 as well; tried first, it is enough.
  EXPECT_EQ(Preempting(two_tiers(), lower_and_one({1, 3, 4}, 3), by_partition(), where).victims(),
            Nodes{1});
  // Without a second try, those that have a node of it go: 0 and 1 are taken away, it has 0 to 2.
  const Parameters once = by_partition({{"preempt_reorder_count", 0}});
  EXPECT_EQ(Preempting(two_tiers(), lower_and_one({1, 3, 4}, 3), once, where).victims(), Nodes{1});
}

// Of jobs of one, two and three nodes, the last makes five possible and is tried first.  Behind it
// come those that gave most nodes, of which the next is enough; in strict order both are taken
// away, and go if they have a node of it.
TEST(SlurmPreempt, BehindItThoseThatGaveMostOrInStrictOrder) {
  const auto victims = [](bool strict, const std::vector<std::pair<int, int>>& where) {
    std::vector<Job> jobs = lower_and_one({1, 2, 3}, 5);
    jobs.insert(jobs.begin() + 3, plain_job(3, 2, 600, 10, 1));  // of its own partition
    const Parameters once =
        by_partition({{"preempt_reorder_count", 0}, {"preempt_strict_order", strict ? 1.0 : 0.0}});
    return Preempting(two_tiers(), jobs, once, where).victims();
  };
  EXPECT_EQ(victims(false, {{0, 1}, {1, 3}, {3, 6}, {6, 8}}), (Nodes{2, 1}));
  EXPECT_EQ(victims(true, {{0, 1}, {1, 3}, {3, 6}, {6, 8}}), (Nodes{2, 0, 1}));
  EXPECT_EQ(victims(true, {{5, 6}, {3, 5}, {0, 3}, {6, 8}}), (Nodes{2, 1}));
}

TEST(SlurmPreempt, TheySendNobodyElseAwayForAWhile) {
  Preempting site(two_tiers(), lower_and_one({8}, 8), by_partition({{"KillWait", 30}}), {{0, 8}});
  EXPECT_TRUE(site.controller.try_begin_preemption(1, 100));
  EXPECT_TRUE(site.controller.preemption().is_in_progress(1));
  site.controller.begin_preemption_pass();
  EXPECT_FALSE(site.controller.preemption().is_in_progress(1));
  EXPECT_FALSE(site.controller.try_begin_preemption(1, 139));
  EXPECT_TRUE(site.controller.try_begin_preemption(1, 140));
}

TEST(SlurmPreempt, APassSendsThemAwayAndItsJobWaitsForTheirNodes) {
  for (const bool requeue : {false, true}) {
    Machine machine = two_tiers();
    machine.partitions[0].preempt_mode = requeue ? 2 : 1;
    Preempting site(machine, lower_and_one({8}, 8), by_partition(), {{0, 8}});
    site.controller.submit(1, 50);
    EXPECT_EQ(main_pass(site.controller, site.select, 60, true), Nodes{});
    ASSERT_EQ(site.controller.terminated_jobs().size(), 1u);
    EXPECT_EQ(site.controller.terminated_jobs()[0].is_requeued, requeue);
    EXPECT_EQ(site.controller.terminated_jobs()[0].earliest_begin, 60 + 121);
    EXPECT_EQ(site.controller.take_terminated_jobs().size(), 1u);
    EXPECT_TRUE(site.controller.terminated_jobs().empty());
    EXPECT_EQ(main_pass(site.controller, site.select, 61, true), Nodes{});  // they are completing
    site.controller.complete_epilog(0, 62);
    EXPECT_EQ(main_pass(site.controller, site.select, 63, true), Nodes{1});
    const Outcome outcome = std::move(site.controller).outcome();
    EXPECT_EQ(outcome.restarts[0], requeue);
    EXPECT_TRUE(std::any_of(
        outcome.notes.begin(), outcome.notes.end(),
        [](const DecisionNote& note) { return note.job == 0 && note.action == Action::preempt; }));
  }
}

TEST(SlurmPreempt, AJobThatWaitsForTheirNodesBlocksItsPartition) {
  std::vector<Job> jobs = lower_and_one({6}, 8);
  jobs.push_back(plain_job(51, 1, 600, 10, 1));  // two nodes are idle
  Preempting site(two_tiers(), jobs, by_partition(), {{0, 6}});
  for (const int job : {1, 2}) site.controller.submit(job, 50 + job);
  EXPECT_EQ(main_pass(site.controller, site.select, 60, true), Nodes{});
  EXPECT_EQ(site.controller.terminated_jobs().size(), 1u);
}

TEST(SlurmPreempt, AJobThatMustNotRunAgainIsOver) {
  std::vector<Job> jobs = lower_and_one({8}, 8);
  jobs[0].can_requeue = false;
  Preempting site(two_tiers(), jobs, by_partition(), {{0, 8}});
  site.controller.submit(1, 50);
  main_pass(site.controller, site.select, 60, true);
  ASSERT_EQ(site.controller.terminated_jobs().size(), 1u);
  EXPECT_FALSE(site.controller.terminated_jobs()[0].is_requeued);
}

TEST(SlurmPreempt, TheyHaveTheirGrace) {
  Machine machine = two_tiers();
  machine.partitions[0].grace_time = 20;
  Preempting site(machine, lower_and_one({8}, 8), by_partition(), {{0, 8}});
  site.controller.submit(1, 50);
  main_pass(site.controller, site.select, 60, true);
  EXPECT_TRUE(site.controller.terminated_jobs().empty());
  EXPECT_EQ(site.controller.grace_expired(79), Nodes{});
  EXPECT_EQ(site.controller.grace_expired(80), Nodes{0});
  site.controller.preempt(0, 80);
  EXPECT_EQ(site.controller.terminated_jobs().size(), 1u);
  EXPECT_EQ(site.controller.grace_expired(99), Nodes{});
}

TEST(SlurmPreempt, ACycleCountsThemAsGone) {
  Preempting site(two_tiers(), lower_and_one({8}, 8), by_partition(), {{0, 8}});
  site.controller.submit(1, 50);
  const Clocks clocks;
  BackfillCycle cycle(clocks, site.controller, site.select);
  EXPECT_EQ(cycle.run(60), Nodes{});
  EXPECT_EQ(site.controller.terminated_jobs().size(), 1u);
  const std::vector<DecisionNote> notes = std::move(site.controller).outcome().notes;
  const auto plan = std::find_if(notes.begin(), notes.end(), [](const DecisionNote& note) {
    return note.action == Action::plan;
  });
  ASSERT_NE(plan, notes.end());
  EXPECT_EQ(plan->start, 60);  // from now on, not from the end of job 0
}

TEST(SlurmPreempt, AJobOfAQosWithNoReserveHasNoPlan) {
  for (const bool no_reserve : {false, true}) {
    Machine machine = plain_machine(8);
    machine.qos.resize(1);
    machine.qos[0].no_reserve = no_reserve;
    std::vector<Job> jobs{plain_job(0, 8, 600), plain_job(1, 8, 600)};
    jobs[1].qos = 0;
    Preempting site(machine, jobs, {{"cons_tres", 1}}, {{0, 8}});
    site.controller.submit(1, 50);
    const Clocks clocks;
    BackfillCycle cycle(clocks, site.controller, site.select);
    cycle.run(60);
    const std::vector<DecisionNote> notes = std::move(site.controller).outcome().notes;
    EXPECT_EQ(std::none_of(notes.begin(), notes.end(),
                           [](const DecisionNote& note) { return note.action == Action::plan; }),
              no_reserve);
  }
}

// From 120 on job 1 has all nodes; one is idle until then.
TEST(SlurmPreempt, AMinuteIsEnoughForAJobOfAQosWithNoReserve) {
  Machine machine = plain_machine(4);
  machine.qos.resize(1);
  machine.qos[0].no_reserve = true;
  std::vector<Job> jobs{plain_job(0, 3, 120), plain_job(1, 4, 600), plain_job(2, 1, 600)};
  jobs[2].qos = 0;
  const auto started = [&](double preempt_type, double time) {
    Preempting site(machine, jobs, {{"PreemptType", preempt_type}, {"PreemptMode", 1}}, {{0, 3}});
    for (const int job : {1, 2}) site.controller.submit(job, job);
    const Clocks clocks;
    return BackfillCycle(clocks, site.controller, site.select).run(time);
  };
  EXPECT_EQ(started(2, 59), Nodes{2});
  EXPECT_EQ(started(2, 60), Nodes{});
  EXPECT_EQ(started(0, 59), Nodes{});
}

TEST(SlurmPreempt, WhoIsSuspendedIsNoVictim) {
  const std::vector<Job> jobs = lower_and_one({2, 2}, 6);
  Preempting of(two_tiers(), jobs, by_partition({{"PreemptMode", 3}}), {{0, 2}, {2, 4}});
  EXPECT_EQ(of.candidates(), (Nodes{0, 1}));
  EXPECT_EQ(of.victims(), Nodes{});
}

}  // namespace
}  // namespace cosched::slurm
