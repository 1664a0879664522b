#include "cosched/slurm/queue/preemption_order.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// A job of each QOS; QOS k may preempt those of preempts[k].  PreemptMode=REQUEUE.
Scenario scenario_of_qos(const std::vector<std::vector<int>>& preempts, double preempt_type = 2) {
  Machine machine = plain_machine(4);
  std::vector<Job> jobs;
  for (const std::vector<int>& preempted_qos : preempts) {
    machine.qos.emplace_back();
    machine.qos.back().preempts = preempted_qos;
    jobs.push_back(plain_job(0, 1, 60));
    jobs.back().qos = static_cast<int>(jobs.size()) - 1;
  }
  return scenario_of(machine, jobs, {{"PreemptType", preempt_type}, {"PreemptMode", 2}});
}

TEST(SlurmPreemptionOrder, IsKeptWhereNothingIsPreempted) {
  EXPECT_TRUE(preemption_keeps_order(scenario_of_qos({{1}, {}, {}}, 0)));
}

TEST(SlurmPreemptionOrder, OfTwoQosIsKept) {
  EXPECT_TRUE(preemption_keeps_order(scenario_of_qos({{1}, {}})));
  EXPECT_TRUE(preemption_keeps_order(scenario_of_qos({{}, {0}})));
}

TEST(SlurmPreemptionOrder, OfLevelsIsKept) {
  // 0 preempts 1 and 2, and 1 preempts 2.
  EXPECT_TRUE(preemption_keeps_order(scenario_of_qos({{1, 2}, {2}, {}})));
  // 0 and 1 preempt 2 and 3: two levels of two QOS each.
  EXPECT_TRUE(preemption_keeps_order(scenario_of_qos({{2, 3}, {2, 3}, {}, {}})));
}

TEST(SlurmPreemptionOrder, IsLostWhereAQosPreemptsSomeAlone) {
  // QOS 2 is beside both: a job of it may be between them, by its priority, or not.
  EXPECT_FALSE(preemption_keeps_order(scenario_of_qos({{1}, {}, {}})));
}

TEST(SlurmPreemptionOrder, IsLostWhereLevelsAreSkipped) {
  // 0 preempts 1, which preempts 2, but 0 does not preempt 2.
  EXPECT_FALSE(preemption_keeps_order(scenario_of_qos({{1}, {2}, {}})));
}

TEST(SlurmPreemptionOrder, IsLostWhereTwoQosPreemptEachOther) {
  EXPECT_FALSE(preemption_keeps_order(scenario_of_qos({{1}, {0}})));
}

TEST(SlurmPreemptionOrder, IgnoresQosWithoutAJob) {
  const Scenario with_all_jobs = scenario_of_qos({{1}, {}, {}});
  std::vector<Job> jobs = with_all_jobs.jobs();
  jobs.pop_back();
  const Scenario scenario(with_all_jobs.machine(), jobs, with_all_jobs.settings());
  EXPECT_TRUE(preemption_keeps_order(scenario));
}

// By PriorityTier, which also orders the queue: a job with a reservation comes before others of a
// higher tier, which may preempt it.
TEST(SlurmPreemptionOrder, OfTiersIsKeptUnlessAJobHasAReservation) {
  const Machine machine = tiers_of({4, 4}, {3, 2, 1});
  std::vector<Job> jobs;
  for (const int partition : {0, 1, 2}) jobs.push_back(plain_job(0, 1, 60, 10, partition));
  const auto settings = to_settings({{"PreemptType", 1}, {"PreemptMode", 2}, {"cons_tres", 1}});
  EXPECT_TRUE(preemption_keeps_order(Scenario(machine, jobs, settings)));
  // Tiers alone are a strict weak order, so that it is kept with a reservation, too.
  const std::vector<Reservation> reservations{
      {.created_at = 0, .begin = 0, .end = 100, .nodes = nodes_from(0, 2, 2)}};
  jobs[2].conditions.reservation = 0;
  EXPECT_TRUE(preemption_keeps_order(Scenario(machine, jobs, settings, reservations)));
}

}  // namespace
}  // namespace cosched::slurm
