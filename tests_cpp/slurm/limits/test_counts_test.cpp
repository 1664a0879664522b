#include "cosched/slurm/limits/test_counts.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

Machine two_partitions() {
  Machine machine = plain_machine(2);
  machine.partitions.push_back(machine.partitions[0]);
  return machine;
}

// Jobs of users 0, 0, 0, 1 in partitions 0, 0, 1, 0, twice: who is looked at.
Nodes admitted(const std::map<std::string, double>& parameters) {
  std::vector<Job> jobs;
  for (const auto& [user, part] : {std::pair(0, 0), {0, 0}, {0, 1}, {1, 0}}) {
    jobs.push_back(plain_job(0, 1, 60, 10, part));
    jobs.back().user = user;
  }
  const Scenario scenario = scenario_of(two_partitions(), jobs, parameters);
  TestCounts counts(scenario);
  Nodes looked_at;
  for (int cycle = 0; cycle < 2; ++cycle) {
    counts.begin_cycle();
    for (int job = 0; job < 4; ++job)
      if (counts.try_count_against_bf_max_job_limits(scenario.job(job),
                                                     scenario.job(job).partition))
        looked_at.push_back(10 * cycle + job);
  }
  return looked_at;
}

TEST(SlurmTestCounts, OfUsersPartitionsAndBoth) {
  EXPECT_EQ(admitted({}), (Nodes{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(admitted({{"bf_max_job_user", 1}}), (Nodes{0, 3, 10, 13}));
  EXPECT_EQ(admitted({{"bf_max_job_part", 2}}), (Nodes{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(admitted({{"bf_max_job_user_part", 1}}), (Nodes{0, 2, 3, 10, 12, 13}));
}

}  // namespace
}  // namespace cosched::slurm
