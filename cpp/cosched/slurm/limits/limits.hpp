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

// Licences: how many of each are free (RULES.md 9.6).

class Licences {
 public:
  /// Requires that `scenario` outlives it.
  explicit Licences(const Scenario& scenario)
      : scenario_(scenario), free_(scenario.machine().licences) {}

  bool enough(int job) const {
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      if (free_[static_cast<std::size_t>(which)] < count) return false;
    return true;
  }
  void take(int job) { change(job, -1); }
  void give(int job) { change(job, 1); }

 private:
  void change(int job, int sign) {
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      free_[static_cast<std::size_t>(which)] += sign * count;
  }

  const Scenario& scenario_;
  std::vector<int> free_;
};

}  // namespace cosched::slurm
