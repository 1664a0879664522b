// bf_max_job_user, bf_max_job_part, bf_max_job_user_part: how many jobs a backfill cycle tests, by
// user and partition (RULES.md 4.8).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class TestCounts {
 public:
  explicit TestCounts(const Scenario& scenario);

  void begin_cycle();
  /// True when the cycle may test one more job of this user in that partition.
  bool can_test(const Job& job, int partition) const;
  /// Counts the job if the cycle may test it; returns whether it may.
  bool try_count_against_bf_max_job_limits(const Job& job, int partition);

 private:
  std::size_t pair_index(const Job& job, int partition) const {
    return static_cast<std::size_t>(job.user) * count_by_partition_.size() +
           static_cast<std::size_t>(partition);
  }

  const Settings::TestLimits test_limits_;
  std::vector<int> count_by_user_;
  std::vector<int> count_by_partition_;
  std::vector<int> count_by_pair_;  // of user and partition
};

}  // namespace cosched::slurm
