#include "cosched/cluster/slurm/queue.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::cluster::slurm {
namespace {

TEST(SlurmQueue, TierThenPriorityThenSubmissionThenNumber) {
  Machine machine = plain_machine(8);
  machine.parts.push_back({nodes_from(0, 8, 8), 5, kNever, 0});
  // 1 is large, 0, 2 and 4 are equal, 3 is small but of the upper tier.
  const Scenario scenario =
      scenario_of(machine,
                  {plain_job(7, 2, 60), plain_job(9, 8, 60), plain_job(6, 2, 60),
                   plain_job(9, 1, 60, 10, 1), plain_job(7, 2, 60)},
                  {{"multifactor", 1}, {"PriorityWeightJobSize", 100}});
  Queue queue(scenario, -60);
  for (const int job : {4, 3, 1, 0}) queue.add(job, scenario.job(job).submit);
  queue.add(2, 6.9);
  EXPECT_EQ(queue.jobs(), (Nodes{3, 1, 2, 0, 4}));
  queue.drop([](int job) { return job == 1; });
  EXPECT_EQ(queue.jobs(), (Nodes{3, 2, 0, 4}));
}

TEST(SlurmQueue, PrioritiesAreCalculatedOnceAPeriodOfTheController) {
  const Scenario scenario =
      scenario_of(plain_machine(8), {plain_job(0, 1, 60), plain_job(95, 8, 60)},
                  {{"multifactor", 1},
                   {"age_counts", 1},
                   {"PriorityWeightAge", 1000},
                   {"PriorityMaxAge", 1000},
                   {"PriorityWeightJobSize", 100},
                   {"PriorityCalcPeriod", 50}});
  Queue queue(scenario, -60);  // periods begin at 90, 140, ...
  queue.add(0, 0);
  queue.add(1, 95);
  EXPECT_EQ(queue.jobs(), (Nodes{1, 0}));  // 100 and 12
  queue.recalculate(139);
  EXPECT_EQ(queue.priority(0), 102);  // as of 90
  EXPECT_EQ(queue.jobs(), (Nodes{0, 1}));
  const auto changes = queue.changes();
  queue.recalculate(120);  // the same period
  EXPECT_EQ(queue.changes(), changes);
  queue.recalculate(141);
  EXPECT_EQ(queue.priority(0), 152);
  EXPECT_EQ(queue.priority(1), 145);
  EXPECT_GT(queue.changes(), changes);
}

TEST(SlurmQueue, HoldsBackTheYoungAndTheLow) {
  const std::vector<Job> jobs{plain_job(10, 1, 60)};
  const Scenario young = scenario_of(plain_machine(8), jobs, {{"bf_min_age_reserve", 30}});
  Queue queue(young, -60);
  queue.add(0, 10.5);
  EXPECT_TRUE(queue.holds_back(0, 39));
  EXPECT_FALSE(queue.holds_back(0, 40));
  for (const double least : {12, 13}) {  // its priority is 100 / 8
    const Scenario low = scenario_of(
        plain_machine(8), jobs,
        {{"multifactor", 1}, {"PriorityWeightJobSize", 100}, {"bf_min_prio_reserve", least}});
    Queue of(low, -60);
    of.add(0, 10);
    EXPECT_EQ(of.holds_back(0, 1000), least > 12);
  }
}

}  // namespace
}  // namespace cosched::cluster::slurm
