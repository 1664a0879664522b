#include "cosched/slurm/queue/priorities.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

const std::map<std::string, double> kSize{{"multifactor", 1}, {"PriorityWeightJobSize", 1000}};

std::map<std::string, double> with(std::map<std::string, double> parameters, const char* name,
                                   double value) {
  parameters[name] = value;
  return parameters;
}

double priority_of(const Scenario& scenario, int job, double age, int jobs_submitted_before,
                   double fair_share = 0, bool is_tested = false) {
  return Priorities(scenario).priority_of(job, {.age = age,
                                                .jobs_submitted_before = jobs_submitted_before,
                                                .fair_share = fair_share,
                                                .is_tested = is_tested});
}

TEST(SlurmPriority, BasicIsByOrderOfSubmission) {
  const Scenario scenario = scenario_of(plain_machine(4), {plain_job(0, 1, 60)});
  EXPECT_EQ(priority_of(scenario, 0, 0, 3), priority_of(scenario, 0, 500, 0) - 3);
}

TEST(SlurmPriority, JobSizeIsTheMeanOfItsShares) {
  Machine machine = plain_machine(4);
  machine.cpus = 16;
  Job job = plain_job(0, 1, 600);
  job.cpus = 4;
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, kSize), 0, 0, 0), 250);
  job.cpus = 2;  // (1/4 + 2/16) / 2
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, kSize), 0, 0, 0), 187);
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, kSize), 0, 0, 0, 0, true), 250);
  const auto small = with(kSize, "PriorityFavorSmall", 1);
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, small), 0, 0, 0), 812);
  // All CPUs of its node, over ten minutes.
  const auto relative = with(kSize, "SMALL_RELATIVE_TO_TIME", 1);
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, relative), 0, 0, 0), 25);
}

TEST(SlurmPriority, PartitionAndNice) {
  Machine machine = plain_machine(4);
  machine.partitions[0].job_factor = 0.5;
  Job job = plain_job(0, 1, 600);
  job.nice = 30;
  const std::map<std::string, double> parameters{{"multifactor", 1},
                                                 {"PriorityWeightPartition", 300}};
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, parameters), 0, 0, 0), 120);
  job.nice = 500;
  EXPECT_EQ(priority_of(scenario_of(machine, {job}, parameters), 0, 0, 0), 1);  // at least
}

TEST(SlurmPriority, AgeCountsWithADatabaseOnly) {
  const std::map<std::string, double> aged{
      {"multifactor", 1}, {"PriorityWeightAge", 100}, {"PriorityMaxAge", 1000}};
  const std::vector<Job> jobs{plain_job(50, 1, 60)};
  EXPECT_EQ(priority_of(scenario_of(plain_machine(4), jobs, aged), 0, 250, 0), 1);
  const Scenario scenario = scenario_of(plain_machine(4), jobs, with(aged, "age_counts", 1));
  EXPECT_EQ(priority_of(scenario, 0, 250, 0), 25);
  EXPECT_EQ(priority_of(scenario, 0, 4950, 0), 100);
  EXPECT_TRUE(priorities_age(scenario.settings().priority));
  EXPECT_FALSE(priorities_age(to_settings(aged).priority));
}

TEST(SlurmPriority, ARecordedOneStandsInPlaceOfTheComputed) {
  Job job = plain_job(0, 1, 60);
  for (const auto& parameters : {kSize, std::map<std::string, double>{}}) {
    job.priority = 77;
    EXPECT_EQ(priority_of(scenario_of(plain_machine(4), {job}, parameters), 0, 0, 5), 77);
    job.priority = -1;
    EXPECT_NE(priority_of(scenario_of(plain_machine(4), {job}, parameters), 0, 0, 5), 77);
  }
}

TEST(SlurmPriority, FairShareAndQos) {
  Job job = plain_job(0, 1, 60);
  job.qos_factor = 0.25;
  const Scenario scenario = scenario_of(
      plain_machine(4), {job},
      {{"multifactor", 1}, {"PriorityWeightFairshare", 1000}, {"PriorityWeightQOS", 100}});
  EXPECT_EQ(priority_of(scenario, 0, 0, 0, 0.5), 525);
}

TEST(SlurmPriority, WhatAJobAsksForOverAllOfItsPartition) {
  Machine machine = shared_machine({4, 4, 4, 4});
  machine.node_memory = {100, 100, 100, 100};
  machine.node_gpus = {{2, 0, 0, 0}};
  machine.priority_tres = {1000, 2000, 0, 0, 500, 0};
  machine.partitions[0].nodes = nodes_from(0, 2, 4);
  Job job = shared_job(2);
  job.request.memory = 50;
  job.request.gpus = 1;
  const Scenario scenario = scenario_of(machine, {job}, {{"multifactor", 1}});
  // 2 of 8 cores, 50 of 200 MB, 1 of 2 GPUs
  EXPECT_EQ(priority_of(scenario, 0, 0, 0, 0, false), 250 + 500 + 250);
}

}  // namespace
}  // namespace cosched::slurm
