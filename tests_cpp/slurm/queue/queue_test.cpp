#include "cosched/slurm/queue/queue.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cosched/slurm/queue/usage.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmQueue, TierThenPriorityThenSubmissionThenNumber) {
  Machine machine = plain_machine(8);
  machine.partitions.push_back({nodes_from(0, 8, 8), 5, kNever, 0});
  // 1 is large, 0, 2 and 4 are equal, 3 is small but of the upper tier.
  const Scenario scenario =
      scenario_of(machine,
                  {plain_job(7, 2, 60), plain_job(9, 8, 60), plain_job(6, 2, 60),
                   plain_job(9, 1, 60, 10, 1), plain_job(7, 2, 60)},
                  {{"multifactor", 1}, {"PriorityWeightJobSize", 100}});
  const Usage usage(scenario, -60);
  Queue queue(scenario, usage);
  for (const int job : {4, 3, 1, 0}) enter(queue, job, scenario.job(job).submit);
  enter(queue, 2, 6.9);
  EXPECT_EQ(jobs_of(queue), (Nodes{3, 1, 2, 0, 4}));
  queue.remove_if([](int job) { return job == 1; });
  EXPECT_EQ(jobs_of(queue), (Nodes{3, 2, 0, 4}));
}

TEST(SlurmQueue, PrioritiesAreCalculatedAsOfTheLastPass) {
  const Scenario scenario =
      scenario_of(plain_machine(8), {plain_job(0, 1, 60), plain_job(95, 8, 60)},
                  {{"multifactor", 1},
                   {"age_counts", 1},
                   {"PriorityWeightAge", 1000},
                   {"PriorityMaxAge", 1000},
                   {"PriorityWeightJobSize", 100},
                   {"PriorityCalcPeriod", 50}});
  Usage usage(scenario, -60);  // passes at 90, 140, ...
  Queue queue(scenario, usage);
  enter(queue, 0, 0);
  enter(queue, 1, 95);
  EXPECT_EQ(jobs_of(queue), (Nodes{1, 0}));  // 100 and 12
  usage.advance(139);
  queue.recalculate();
  EXPECT_EQ(queue.priority(0), 102);  // as of 90
  EXPECT_EQ(jobs_of(queue), (Nodes{0, 1}));
  const auto changes = queue.change_count();
  usage.advance(141);
  queue.recalculate();
  EXPECT_EQ(queue.priority(0), 152);
  EXPECT_EQ(queue.priority(1), 145);
  EXPECT_GT(queue.change_count(), changes);
}

TEST(SlurmQueue, HoldsBackTheYoungAndTheLow) {
  const std::vector<Job> jobs{plain_job(10, 1, 60)};
  const Scenario young = scenario_of(plain_machine(8), jobs, {{"bf_min_age_reserve", 30}});
  const Usage usage(young, -60);
  Queue queue(young, usage);
  enter(queue, 0, 10.5);
  EXPECT_TRUE(queue.is_below_reserve_minimums(0, 39));
  EXPECT_FALSE(queue.is_below_reserve_minimums(0, 40));
  for (const double least_priority : {12, 13}) {  // its priority is 100 / 8
    const Scenario low = scenario_of(plain_machine(8), jobs,
                                     {{"multifactor", 1},
                                      {"PriorityWeightJobSize", 100},
                                      {"bf_min_prio_reserve", least_priority}});
    const Usage none(low, -60);
    Queue of(low, none);
    enter(of, 0, 10);
    EXPECT_EQ(of.is_below_reserve_minimums(0, 1000), least_priority > 12);
  }
}

TEST(SlurmQueue, AnEntryForEachPartitionReservedJobsFirst) {
  Machine machine = plain_machine(8);
  machine.partitions.push_back({nodes_from(0, 8, 8), 5, kNever, 0});
  std::vector<Job> jobs(4, plain_job(0, 1, 60));
  jobs[1].partitions = {0, 1};
  jobs[3].conditions.reservation = 0;
  const Scenario scenario(
      machine, jobs, to_settings({}),
      {{.created_at = 0, .begin = 0, .end = 600, .nodes = nodes_from(0, 1, 8)}});
  const Usage usage(scenario, -60);
  Queue queue(scenario, usage);
  for (int job = 0; job < 4; ++job) enter(queue, job, 0);
  EXPECT_EQ(queue.entries(), (std::vector<QueueEntry>{{3, 0}, {1, 1}, {0, 0}, {1, 0}, {2, 0}}));
  queue.remove_if([](int job) { return job == 1; });
  EXPECT_EQ(jobs_of(queue), (Nodes{3, 0, 2}));
}

TEST(SlurmQueue, TasksHaveOnePriorityAndReleasedJobsTheLast) {
  std::vector<Job> jobs(5, plain_job(0, 1, 60));
  for (const int task : {1, 2}) jobs[static_cast<std::size_t>(task)].conditions.array = 7;
  const Scenario scenario = scenario_of(plain_machine(8), jobs);
  const Usage usage(scenario, -60);
  Queue queue(scenario, usage);
  for (int job = 0; job < 5; ++job) queue.submit(job, 0);
  EXPECT_EQ(queue.priority(1), queue.priority(2));
  EXPECT_EQ(queue.priority(3), queue.priority(2) - 1);
  queue.set_new_priority(0);
  EXPECT_EQ(queue.priority(0), queue.priority(4) - 1);
  const double old = queue.priority(1);
  queue.resubmit(1, 50, false);  // 22.05
  EXPECT_EQ(queue.priority(1), old);
  queue.resubmit(1, 50, true);  // 24.11
  EXPECT_EQ(queue.priority(1), queue.priority(0) - 1);
}

TEST(SlurmQueue, WithASlurmdbdPrioritiesMoveAtThePassesOfItsThread) {
  std::vector<Job> jobs{plain_job(0, 1, 600), plain_job(0, 1, 60), plain_job(1, 1, 60)};
  jobs[0].association = jobs[1].association = 1;
  jobs[2].association = 2;
  const Scenario scenario(
      plain_machine(8), jobs,
      to_settings(
          {{"multifactor", 1}, {"PriorityWeightFairshare", 100}, {"PriorityCalcPeriod", 60}}),
      {}, {}, {root_account(), user_below(0), user_below(0)});
  Usage usage(scenario, -30);
  Queue queue(scenario, usage);
  usage.advance(0);
  usage.start(0, 1, 0);
  usage.end(0, 20);
  enter(queue, 1, 20);
  enter(queue, 2, 21);
  usage.advance(29);
  queue.recalculate();
  EXPECT_EQ(jobs_of(queue), (Nodes{1, 2}));  // equal still
  usage.advance(30);
  queue.recalculate();
  EXPECT_EQ(jobs_of(queue), (Nodes{2, 1}));
  EXPECT_EQ(queue.priority(1), 50);
}

TEST(SlurmQueue, WhoWaitsAtTheBeginKeepsItsPriorityUntilTheNextPassAndItsAge) {
  std::vector<Job> jobs{plain_job(0, 1, 600), plain_job(0, 1, 60), plain_job(0, 1, 60)};
  jobs[0].queue_state = {5, -200};
  jobs[1].queue_state = {9, -100};
  jobs[2].queue_state = {0, std::numeric_limits<double>::infinity()};  // its age does not count yet
  const Scenario scenario(plain_machine(8), jobs,
                          to_settings({{"multifactor", 1},
                                       {"age_counts", 1},
                                       {"PriorityWeightAge", 1000},
                                       {"PriorityMaxAge", 1000},
                                       {"PriorityCalcPeriod", 60}}),
                          {}, {}, {{.parent = -1, .initial_factor = 0}});
  Usage usage(scenario, -30);
  Queue queue(scenario, usage);
  for (int job = 0; job < 3; ++job) {
    queue.submit(job, 0);
    queue.start_accrual(job, 10);
    queue.enter(job);
  }
  EXPECT_FALSE(usage.advance(29));
  EXPECT_EQ(jobs_of(queue), (Nodes{1, 0, 2}));
  EXPECT_EQ(queue.priority(1), 9);
  EXPECT_TRUE(usage.advance(30));
  queue.recalculate();
  EXPECT_EQ(jobs_of(queue), (Nodes{0, 1, 2}));
  EXPECT_EQ(queue.priority(0), 230);
  EXPECT_EQ(queue.priority(2), 20);
}

TEST(SlurmQueue, AsManyAgesCountAsALimitSays) {
  Machine machine = plain_machine(4);
  machine.qos.resize(1);
  machine.qos[0].max_accruing_user = 1;
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  for (Job& job : jobs) job.qos = 0;
  jobs[2].user = 1;
  const Scenario scenario = scenario_of(machine, jobs,
                                        {{"multifactor", 1},
                                         {"age_counts", 1},
                                         {"PriorityWeightAge", 1000},
                                         {"PriorityMaxAge", 1000},
                                         {"PriorityCalcPeriod", 100}});
  Usage usage(scenario, 0);
  Queue queue(scenario, usage);
  for (int job = 0; job < 3; ++job) {
    queue.submit(job, 0);
    queue.enter(job);
  }
  queue.start_next_accruals(20);
  usage.advance(100);
  queue.recalculate();
  EXPECT_EQ(queue.priority(0), 80);
  EXPECT_EQ(queue.priority(1), 1);  // the age of its user's first counts
  EXPECT_EQ(queue.priority(2), 80);
  queue.remove_if([](int job) { return job == 0; });
  queue.start_next_accruals(150);
  usage.advance(200);
  queue.recalculate();
  EXPECT_EQ(queue.priority(1), 50);
}

// Whose ages count, of four jobs of a user (and a fifth of another of the account) that wait from
// the begin.
Nodes that_count(const Qos& qos, const Limits& account, const Limits& user, bool since_24 = false) {
  Machine machine = plain_machine(4);
  machine.qos = {qos, {}};
  std::vector<Job> jobs(5, plain_job(0, 1, 60));
  for (Job& job : jobs) job.association = 2;
  jobs[4].association = 3;
  jobs[4].user = 1;
  jobs[0].qos = jobs[1].qos = jobs[4].qos = 0;
  jobs[2].qos = jobs[3].qos = 1;
  const Scenario scenario(
      machine, jobs,
      to_settings({{"multifactor", 1},
                   {"age_counts", 1},
                   {"PriorityWeightAge", 1000},
                   {"PriorityMaxAge", 1000},
                   {"PriorityCalcPeriod", 100},
                   {"since_24", since_24}}),
      {}, {}, {root_account(), account_below(0, account), user_below(1, user), user_below(1)});
  Usage usage(scenario, 0);
  Queue queue(scenario, usage);
  for (int job = 0; job < 5; ++job) {
    queue.submit(job, 0);
    queue.enter(job);
  }
  queue.start_next_accruals(20);
  usage.advance(100);
  queue.recalculate();
  Nodes accruing_jobs;
  for (int job = 0; job < 5; ++job)
    if (queue.priority(job) > 1) accruing_jobs.push_back(job);
  return accruing_jobs;
}

Limits accrual(int group, int association = -1) {
  Limits limits;
  limits.max_accruing_group = group;
  limits.max_accruing = association;
  return limits;
}

TEST(SlurmQueue, WhoseLimitOfAccrualHolds) {
  const Qos none;
  const auto qos_of = [](int group, int account, int user) {
    Qos qos;
    qos.max_accruing_group = group;
    qos.max_accruing_account = account;
    qos.max_accruing_user = user;
    return qos;
  };
  EXPECT_EQ(that_count(none, accrual(3), {}), (Nodes{0, 1, 2}));
  EXPECT_EQ(that_count(none, {}, accrual(-1, 1)), (Nodes{0, 4}));
  EXPECT_EQ(that_count(none, {}, accrual(2, 1)), (Nodes{0, 1, 4}));  // its group's comes first
  EXPECT_EQ(that_count(none, {}, accrual(2, 1), true), (Nodes{0, 4}));
  EXPECT_EQ(that_count(none, accrual(-1, 1), {}), (Nodes{0, 4}));  // inherited, by user
  // The one below comes first, and who has room there counts in the group above.
  EXPECT_EQ(that_count(none, accrual(1), accrual(2)), (Nodes{0, 1}));
  EXPECT_EQ(that_count(qos_of(2, -1, -1), accrual(1), {}), (Nodes{0, 1}));
  EXPECT_EQ(that_count(qos_of(-1, 1, -1), {}, {}), (Nodes{0, 2, 3}));
  EXPECT_EQ(that_count(qos_of(-1, -1, 1), {}, {}), (Nodes{0, 2, 3, 4}));
  EXPECT_EQ(that_count(qos_of(2, -1, 1), {}, {}), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(that_count(qos_of(2, -1, 1), {}, {}, true), (Nodes{0, 2, 3, 4}));
}

// Of QOS high, which may preempt low, and normal; the first has the least priority.
Scenario three_qos(const std::vector<std::pair<int, double>>& qos_and_priority) {
  Machine machine = plain_machine(4);
  machine.qos.resize(3);
  machine.qos[0].preempts = {1};
  std::vector<Job> jobs;
  for (const auto& [qos, priority] : qos_and_priority) {
    jobs.push_back(plain_job(static_cast<double>(jobs.size()), 1, 60));
    jobs.back().qos = qos;
    jobs.back().priority = priority;
  }
  return scenario_of(machine, jobs, {{"PreemptType", 2}, {"PreemptMode", 2}, {"cons_tres", 1}});
}

Nodes arranged(const Scenario& scenario) {
  const Usage usage(scenario, -60);
  Queue queue(scenario, usage);
  for (int job = 0; job < static_cast<int>(scenario.jobs().size()); ++job)
    enter(queue, job, scenario.job(job).submit);
  queue.sort_as_slurmctld([](int job) { return job; });
  return jobs_of(queue);
}

TEST(SlurmQueue, WherePreemptionLeavesNoOrderItIsThatOfSlurmsSort) {
  constexpr int kHigh = 0, kLow = 1, kNormal = 2;
  // High before low, low before normal, normal before high: whoever is last is so by the merges.
  // A list of three is parted into one and two.
  EXPECT_EQ(arranged(three_qos({{kHigh, 1}, {kLow, 3}, {kNormal, 2}})), (Nodes{0, 1, 2}));
  EXPECT_EQ(arranged(three_qos({{kLow, 3}, {kHigh, 1}, {kNormal, 2}})), (Nodes{0, 2, 1}));
  EXPECT_EQ(arranged(three_qos({{kNormal, 2}, {kHigh, 1}, {kLow, 3}})), (Nodes{0, 1, 2}));
  EXPECT_FALSE(preemption_keeps_order(three_qos({{kHigh, 1}, {kLow, 3}, {kNormal, 2}})));
}

TEST(SlurmQueue, WherePreemptionIsAnOrderPrioritiesAreSecond) {
  const Scenario scenario = three_qos({{1, 3}, {0, 1}, {1, 9}, {0, 2}});
  EXPECT_TRUE(preemption_keeps_order(scenario));
  EXPECT_EQ(arranged(scenario), (Nodes{3, 1, 2, 0}));
}

}  // namespace
}  // namespace cosched::slurm
