#include "cosched/slurm/queue/accrual_limits.hpp"

namespace cosched::slurm {
namespace {

bool has_accrual_limit(const Limits& limits) {
  return limits.max_accruing_group >= 0 || limits.max_accruing_account >= 0 ||
         limits.max_accruing_user >= 0 || limits.max_accruing >= 0;
}

}  // namespace

AccrualLimits::AccrualLimits(const Scenario& scenario) : scenario_(scenario) {
  const std::vector<Qos>& qos = scenario.machine().qos;
  const std::vector<Association>& associations = scenario.accounts();
  are_set_ =
      std::any_of(qos.begin(), qos.end(), has_accrual_limit) ||
      std::any_of(associations.begin(), associations.end(), [](const Association& association) {
        return has_accrual_limit(association.limits);
      });
}

// The groups in which the age of the job counts: its QOS, its account and user there, its
// association and those above.
std::vector<AccrualLimits::AccrualGroup> AccrualLimits::groups_of(int job_number) const {
  const Job& job = scenario_.job(job_number);
  const std::vector<Association>& associations = scenario_.accounts();
  std::vector<AccrualGroup> groups;
  if (job.qos >= 0) {
    int account = job.association;
    if (account >= 0 && associations[account].is_user) account = associations[account].parent;
    groups = {{GroupKind::qos, job.qos, -1},
              {GroupKind::account_in_qos, job.qos, account},
              {GroupKind::user_in_qos, job.qos, job.user}};
  }
  for (int k = job.association; k >= 0; k = associations[k].parent)
    groups.push_back({GroupKind::association, k, -1});
  return groups;
}

// The limit of the job: the first that is set, of its QOS, then of its association and those above.
// 24.11 takes the least one of a QOS, and of each association.
AccrualLimits::GroupLimit AccrualLimits::limit_of(int job_number) const {
  const Job& job = scenario_.job(job_number);
  GroupLimit limit{{}, std::numeric_limits<int>::max()};
  bool has_limit = false;
  const auto consider = [&](const AccrualGroup& group, int max_jobs) {
    const bool is_less = scenario_.settings().is_24_11 && max_jobs < limit.max_jobs;
    if (max_jobs < 0 || (has_limit && !is_less)) return;
    has_limit = true;
    limit = {group, max_jobs};
  };
  const std::vector<AccrualGroup> groups = groups_of(job_number);
  auto group = groups.begin();
  if (job.qos >= 0) {
    const Limits& qos = scenario_.machine().qos[job.qos];
    for (const int max_jobs :
         {qos.max_accruing_group, qos.max_accruing_account, qos.max_accruing_user}) {
      consider(*group, max_jobs);
      ++group;
    }
  }
  // MaxJobsAccrue of an association is inherited where those below it have none.
  int inherited = -1;
  for (auto level = group; level != groups.end() && inherited < 0; ++level)
    inherited = limits_of_association(*level).max_accruing;
  for (auto level = group; level != groups.end() && !has_limit; ++level) {
    consider(*level, limits_of_association(*level).max_accruing_group);
    if (level == group) consider(*level, inherited);
  }
  return limit;
}

const Limits& AccrualLimits::limits_of_association(const AccrualGroup& group) const {
  return scenario_.accounts()[group.number].limits;
}

void AccrualLimits::count_job(int job_number, GroupCounts& counts) const {
  for (const AccrualGroup& group : groups_of(job_number)) ++counts[group];
}

}  // namespace cosched::slurm
