// bf_max_job_user, bf_max_job_part, bf_max_job_user_part: how many jobs of whom a backfill cycle
// looks at (RULES.md 4.8).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class TestCounts {
 public:
  explicit TestCounts(const Scenario& scenario)
      : test_limits_(scenario.settings().backfill.limits),
        count_by_partition_(scenario.machine().partitions.size()) {
    int users = 0;
    for (const Job& job : scenario.jobs()) users = std::max(users, job.user + 1);
    count_by_user_.resize(static_cast<std::size_t>(users));
    count_by_user_and_partition_.resize(count_by_user_.size() * count_by_partition_.size());
  }

  /// A cycle begins.
  void begin_cycle() {
    for (auto* counts : {&count_by_user_, &count_by_partition_, &count_by_user_and_partition_})
      std::fill(counts->begin(), counts->end(), 0);
  }

  /// Whether the job is looked at in that partition; counts it if so.
  bool try_count_test(const Job& job, int part) {
    if (!can_test(job, part)) return false;
    const auto partition = static_cast<std::size_t>(part);
    const auto user = static_cast<std::size_t>(job.user);
    ++count_by_user_and_partition_[user * count_by_partition_.size() + partition];
    ++count_by_partition_[partition];
    ++count_by_user_[user];
    return true;
  }

  /// Whether it would be.
  bool can_test(const Job& job, int part) const {
    const auto partition = static_cast<std::size_t>(part);
    const auto user = static_cast<std::size_t>(job.user);
    const int both = count_by_user_and_partition_[user * count_by_partition_.size() + partition];
    const auto reached = [](int count, int limit) { return limit != 0 && count >= limit; };
    return !reached(both, test_limits_.user_and_partition) &&
           !reached(count_by_partition_[partition], test_limits_.partition) &&
           !reached(count_by_user_[user], test_limits_.user);
  }

 private:
  Settings::TestLimits test_limits_;
  std::vector<int> count_by_user_, count_by_partition_, count_by_user_and_partition_;
};

// Licences: how many of each are free (RULES.md 9.6).

class Licences {
 public:
  /// Requires that `scenario` outlives it.
  explicit Licences(const Scenario& scenario)
      : scenario_(scenario), free_counts_(scenario.machine().licences) {}

  bool are_available(int job) const {
    if (free_counts_.empty()) return true;
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      if (free_counts_[which] < count) return false;
    return true;
  }
  void take(int job) { change(job, -1); }
  void release(int job) { change(job, 1); }

 private:
  void change(int job, int sign) {
    for (const auto& [which, count] : scenario_.job(job).conditions.licences)
      free_counts_[which] += sign * count;
  }

  const Scenario& scenario_;
  std::vector<int> free_counts_;
};

}  // namespace cosched::slurm
