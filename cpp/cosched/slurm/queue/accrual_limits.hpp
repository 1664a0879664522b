// How many pending jobs accrue age at a time: GrpJobsAccrue, MaxJobsAccruePA, MaxJobsAccruePU and
// MaxJobsAccrue (RULES.md 13.6; `acct_policy_accrue` of Slurm).
#pragma once

#include <compare>
#include <map>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class AccrualLimits {
 public:
  /// Requires that `scenario` outlives it.
  explicit AccrualLimits(const Scenario& scenario);

  /// True where some QOS or association has such a limit.
  bool are_set() const { return are_set_; }
  /// Which of `pending_jobs` begin to accrue age, where those for which is_accruing(job) do so
  /// already.  Slurm takes the jobs in the order of their numbers, not of their priorities.
  template <class IsAccruing>
  std::vector<int> choose_next_jobs(std::vector<int> pending_jobs, IsAccruing is_accruing) const;

 private:
  /// What a group of jobs, whose ages are limited together, has in common.
  enum class GroupKind : char { qos, account_in_qos, user_in_qos, association };
  struct AccrualGroup {
    GroupKind kind = GroupKind::qos;
    int number = -1;           // of the QOS or association
    int account_or_user = -1;  // in the QOS; -1: all of them
    auto operator<=>(const AccrualGroup& other) const = default;
  };
  struct GroupLimit {
    AccrualGroup group;
    int max_jobs;
  };
  using GroupCounts = std::map<AccrualGroup, int>;

  std::vector<AccrualGroup> groups_of(int job_number) const;
  GroupLimit limit_of(int job_number) const;
  const Limits& limits_of_association(const AccrualGroup& group) const;
  void count_job(int job_number, GroupCounts& counts) const;

  const Scenario& scenario_;
  bool are_set_;
};

template <class IsAccruing>
std::vector<int> AccrualLimits::choose_next_jobs(std::vector<int> pending_jobs,
                                                 IsAccruing is_accruing) const {
  std::sort(pending_jobs.begin(), pending_jobs.end());
  pending_jobs.erase(std::unique(pending_jobs.begin(), pending_jobs.end()), pending_jobs.end());
  GroupCounts counts;
  for (const int job : pending_jobs)
    if (is_accruing(job)) count_job(job, counts);
  std::vector<int> next_jobs;
  for (const int job : pending_jobs) {
    const GroupLimit limit = limit_of(job);
    if (is_accruing(job) || counts[limit.group] >= limit.max_jobs) continue;
    count_job(job, counts);
    next_jobs.push_back(job);
  }
  return next_jobs;
}

}  // namespace cosched::slurm
