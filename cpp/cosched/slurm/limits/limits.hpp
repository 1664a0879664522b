// bf_max_job_user, bf_max_job_part, bf_max_job_user_part: how many jobs of whom a backfill cycle
// looks at (RULES.md 4.8).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class TestCounts {
 public:
  explicit TestCounts(const Scenario& scenario)
      : limits_(scenario.settings().backfill.limits), by_part_(scenario.machine().parts.size()) {
    int users = 0;
    for (const Job& job : scenario.jobs()) users = std::max(users, job.user + 1);
    by_user_.resize(static_cast<std::size_t>(users));
    by_both_.resize(by_user_.size() * by_part_.size());
  }

  /// A cycle begins.
  void reset() {
    for (auto* counts : {&by_user_, &by_part_, &by_both_})
      std::fill(counts->begin(), counts->end(), 0);
  }

  /// Whether the job is looked at in that partition; counts it if so.
  bool admit(const Job& job, int part) {
    if (!admits(job, part)) return false;
    const auto partition = static_cast<std::size_t>(part);
    const auto user = static_cast<std::size_t>(job.user);
    ++by_both_[user * by_part_.size() + partition], ++by_part_[partition], ++by_user_[user];
    return true;
  }

  /// Whether it would be.
  bool admits(const Job& job, int part) const {
    const auto partition = static_cast<std::size_t>(part);
    const auto user = static_cast<std::size_t>(job.user);
    const int both = by_both_[user * by_part_.size() + partition];
    const auto reached = [](int count, int limit) { return limit != 0 && count >= limit; };
    return !reached(both, limits_.user_and_partition) &&
           !reached(by_part_[partition], limits_.partition) &&
           !reached(by_user_[user], limits_.user);
  }

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
    if (free_.empty()) return true;
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      if (free_[which] < count) return false;
    return true;
  }
  void take(int job) { change(job, -1); }
  void give(int job) { change(job, 1); }

 private:
  void change(int job, int sign) {
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      free_[which] += sign * count;
  }

  const Scenario& scenario_;
  std::vector<int> free_;
};

}  // namespace cosched::slurm
