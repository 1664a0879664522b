// bf_max_job_user, bf_max_job_part, bf_max_job_user_part: how many jobs of whom a backfill cycle looks at
// (RULES.md 4.8).
#pragma once

#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class TestCounts {
 public:
  explicit TestCounts(const Scenario& scenario);

  /// A cycle begins.
  void reset();
  /// Whether the job is looked at in that partition; counts it if so.
  bool admit(const Job& job, int part);
  /// Whether it would be.
  bool admits(const Job& job, int part) const;

 private:
  Settings::TestLimits limits_;
  std::vector<int> by_user_, by_part_, by_both_;
};

}  // namespace cosched::slurm
