#include "cosched/slurm/simulate/outcome_fixes.hpp"

#include <gtest/gtest.h>

#include "support/slurm_clocks.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// Jobs of 100 s each on a machine of four nodes.
Scenario jobs_of_100_seconds(int count) {
  return scenario_of(plain_machine(4),
                     std::vector<Job>(static_cast<std::size_t>(count), plain_job(0, 1, 600, 100)));
}

// The pauses of job 0, which starts at time 0.
Outcome outcome_with(const std::vector<Pause>& pauses, int jobs = 1) {
  Outcome outcome(static_cast<std::size_t>(jobs));
  outcome.start_exact.assign(outcome.start_exact.size(), 0);
  outcome.pauses = pauses;
  return outcome;
}

TEST(SlurmOutcomeFixes, APauseAfterTheWorkIsDoneIsDropped) {
  Outcome outcome = outcome_with({{.job = 0, .begin = 40, .end = 60},
                                  {.job = 0, .begin = 119, .end = 130},
                                  {.job = 0, .begin = 131, .end = 140}});
  trim_pauses_after_completion(jobs_of_100_seconds(1), exact_clocks(), outcome);
  // The first pause delays the end of the work to 120, and the second to 131.
  ASSERT_EQ(outcome.pauses.size(), 2U);
  EXPECT_EQ(outcome.pauses[0].begin, 40);
  EXPECT_EQ(outcome.pauses[1].begin, 119);
}

TEST(SlurmOutcomeFixes, ARecordedLengthOfTheWorkCountsInPlaceOfTheRuntime) {
  Clocks clocks = exact_clocks();
  clocks.run_lengths = {50, Outcome::kNone};
  Outcome outcome =
      outcome_with({{.job = 0, .begin = 60, .end = 70}, {.job = 1, .begin = 60, .end = 70}}, 2);
  trim_pauses_after_completion(jobs_of_100_seconds(2), clocks, outcome);
  ASSERT_EQ(outcome.pauses.size(), 1U);
  EXPECT_EQ(outcome.pauses[0].job, 1);
}

TEST(SlurmOutcomeFixes, AJobThatWasEndedWhileSuspendedHasEndedWhenItWasSuspended) {
  Outcome outcome = outcome_with({{.job = 0, .begin = 30.5, .end = Outcome::kNone},
                                  {.job = 1, .begin = 40, .end = Outcome::kNone}},
                                 2);
  outcome.is_killed[0] = 1;
  outcome.end = {80, 80};
  outcome.end_exact = {80.25, 80.25};
  trim_pauses_after_completion(jobs_of_100_seconds(2), exact_clocks(), outcome);
  EXPECT_TRUE(outcome.pauses.empty());
  EXPECT_EQ(outcome.end_exact, (std::vector<double>{30.5, 80.25}));
  EXPECT_EQ(outcome.end, (std::vector<double>{30, 80}));
}

// An outcome in which no job has started, and a limit keeps job 0.
Outcome outcome_of_blocked(int jobs) {
  Outcome outcome(static_cast<std::size_t>(jobs));
  outcome.blocked_by_limit = {{0, "QOSMaxNodePerJobLimit"}};
  return outcome;
}

using BlockedByLimit = std::vector<std::pair<int, std::string>>;

TEST(SlurmOutcomeFixes, TasksOfAnArrayAreBlockedForTheReasonOfTheFirst) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[0].conditions.array = jobs[1].conditions.array = 7;
  Outcome outcome = outcome_of_blocked(3);
  propagate_blocks(scenario_of(plain_machine(4), jobs), outcome);
  EXPECT_EQ(outcome.blocked_by_limit,
            (BlockedByLimit{{0, "QOSMaxNodePerJobLimit"}, {1, "QOSMaxNodePerJobLimit"}}));
}

TEST(SlurmOutcomeFixes, JobsThatDependOnBlockedOnesAreBlockedAlongChains) {
  std::vector<Job> jobs(4, plain_job(0, 1, 60));
  // 1 waits for 2, which waits for 0: the chain is found whatever the order of numbers.
  jobs[1].conditions.dependencies = {{Dependency::Kind::after_any, {2}}};
  jobs[2].conditions.dependencies = {{Dependency::Kind::after_ok, {3, 0}}};
  Outcome outcome = outcome_of_blocked(4);
  propagate_blocks(scenario_of(plain_machine(4), jobs), outcome);
  EXPECT_EQ(outcome.blocked_by_limit,
            (BlockedByLimit{{0, "QOSMaxNodePerJobLimit"}, {1, "Dependency"}, {2, "Dependency"}}));
}

TEST(SlurmOutcomeFixes, ASingletonIsBlockedByABlockedJobOfItsName) {
  std::vector<Job> jobs(3, plain_job(0, 1, 60));
  jobs[0].conditions.singleton_name = 4;
  jobs[1].conditions.singleton = 4;
  jobs[2].conditions.singleton = 5;
  Outcome outcome = outcome_of_blocked(3);
  propagate_blocks(scenario_of(plain_machine(4), jobs), outcome);
  EXPECT_EQ(outcome.blocked_by_limit,
            (BlockedByLimit{{0, "QOSMaxNodePerJobLimit"}, {1, "Dependency"}}));
}

TEST(SlurmOutcomeFixes, AJobThatHasStartedIsNotBlocked) {
  std::vector<Job> jobs(2, plain_job(0, 1, 60));
  jobs[1].conditions.dependencies = {{Dependency::Kind::after, {0}}};
  Outcome outcome = outcome_of_blocked(2);
  outcome.start[1] = 5;
  propagate_blocks(scenario_of(plain_machine(4), jobs), outcome);
  EXPECT_EQ(outcome.blocked_by_limit, (BlockedByLimit{{0, "QOSMaxNodePerJobLimit"}}));
}

}  // namespace
}  // namespace cosched::slurm
