#include "cosched/slurm/queue/readiness.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

using On = Dependency::Kind;

// Jobs of a node each on eight.
struct QueueState {
  explicit QueueState(std::vector<Job> jobs)
      : scenario(scenario_of(plain_machine(8), std::move(jobs))),
        allocations(scenario),
        readiness(scenario, allocations) {}
  Nodes admitted(Second now) {
    Nodes jobs;
    readiness.admit(now, [&](int job, bool) { jobs.push_back(job); });
    return jobs;
  }
  void run(int job, bool failed) {
    allocations.start(job, choice_from(job, job + 1, 8), 0);
    allocations.end(job, 10);
    readiness.end(job, failed);
  }
  Scenario scenario;
  Allocations allocations;
  Readiness readiness;
};

Job job_with(const Conditions& conditions) {
  Job job = plain_job(0, 1, 60);
  job.conditions = conditions;
  return job;
}

Job job_after(On kind, const std::vector<int>& jobs) {
  Conditions conditions;
  conditions.dependencies = {{kind, jobs}};
  return job_with(conditions);
}

TEST(SlurmReadiness, BeginIsASecondThatHasCome) {
  Conditions later;
  later.begin = 100.5;
  QueueState of({plain_job(0, 1, 60), job_with(later)});
  EXPECT_TRUE(of.readiness.submit(0, 0));
  EXPECT_FALSE(of.readiness.submit(1, 0));
  EXPECT_EQ(of.admitted(99), Nodes{});
  EXPECT_EQ(of.admitted(100), Nodes{1});
  EXPECT_EQ(of.admitted(101), Nodes{});  // once
}

TEST(SlurmReadiness, AHeldJobWaitsForItsRelease) {
  Conditions held_conditions;
  held_conditions.is_held = true;
  QueueState of({job_with(held_conditions)});
  EXPECT_FALSE(of.readiness.submit(0, 0));
  EXPECT_EQ(of.admitted(1000), Nodes{});
  of.readiness.release(0);
  EXPECT_EQ(of.admitted(1001), Nodes{0});
}

TEST(SlurmReadiness, DependenciesAreMetByHowAJobEnded) {
  for (const bool failed : {false, true}) {
    QueueState of({plain_job(0, 1, 60), job_after(On::after, {0}), job_after(On::after_any, {0}),
                   job_after(On::after_ok, {0}), job_after(On::after_not_ok, {0})});
    for (int job = 1; job < 5; ++job) EXPECT_FALSE(of.readiness.submit(job, 0));
    of.run(0, failed);
    EXPECT_EQ(of.admitted(10), Nodes{1});  // the others wait for its last epilog
    of.allocations.complete_epilog(0);
    EXPECT_EQ(of.admitted(11), (Nodes{2, failed ? 4 : 3}));
    EXPECT_EQ(of.admitted(999), Nodes{});  // never
  }
}

TEST(SlurmReadiness, AfterAnArrayIsAfterAllItsTasks) {
  QueueState of({plain_job(0, 1, 60), plain_job(0, 1, 60), job_after(On::after_any, {0, 1}),
                 job_after(On::after_not_ok, {0, 1})});
  for (int job = 2; job < 4; ++job) of.readiness.submit(job, 0);
  of.run(0, true);
  of.allocations.complete_epilog(0);
  EXPECT_EQ(of.admitted(10), Nodes{});
  of.run(1, false);
  of.allocations.complete_epilog(1);
  EXPECT_EQ(of.admitted(10), (Nodes{2, 3}));
}

TEST(SlurmReadiness, OneOfANameAtATime) {
  Conditions alone;
  alone.singleton = 0;
  QueueState of({job_with(alone), job_with(alone), job_with(alone)});
  EXPECT_TRUE(of.readiness.submit(0, 0));
  EXPECT_FALSE(of.readiness.submit(1, 0));
  EXPECT_FALSE(of.readiness.submit(2, 0));
  of.run(0, false);
  EXPECT_EQ(of.admitted(10), Nodes{});
  of.allocations.complete_epilog(0);
  EXPECT_EQ(of.admitted(10), Nodes{1});  // 2 is behind 1
}

TEST(SlurmReadiness, OneOfANameBehindThoseThatWaitForNoneOfIt) {
  Conditions plain, alone;
  plain.singleton_name = 0;
  alone.singleton = 0;
  QueueState of({job_with(plain), job_with(alone), job_with(plain)});
  EXPECT_TRUE(of.readiness.submit(0, 0));
  EXPECT_FALSE(of.readiness.submit(1, 0));
  EXPECT_TRUE(of.readiness.submit(2, 0));
  of.run(0, false);
  of.allocations.complete_epilog(0);
  EXPECT_EQ(of.admitted(10), Nodes{1});  // 2 waits too, and came later
}

TEST(SlurmReadiness, TasksOfAnArrayThatMayRun) {
  Conditions task;
  task.array = 0;
  task.array_limit = 2;
  QueueState of({job_with(task), job_with(task), job_with(task)});
  of.readiness.count_tasks(0, 1);
  EXPECT_FALSE(of.readiness.is_array_full(2));
  of.readiness.count_tasks(1, 1);
  EXPECT_TRUE(of.readiness.is_array_full(2));
  EXPECT_EQ(of.readiness.running_tasks(2), 2);
  of.readiness.count_tasks(0, -1);
  EXPECT_FALSE(of.readiness.is_array_full(2));
}

}  // namespace
}  // namespace cosched::slurm
