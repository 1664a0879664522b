// The priority of a pending job (RULES.md 1.3 to 1.8, 13.5): `_get_priority_internal` of
// priority_multifactor.c, and priority/basic.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// True where priorities change while jobs wait.
inline bool priorities_age(const Settings::Priority& settings) {
  return settings.multifactor && settings.ages_count && settings.weight_age > 0;
}

/// What the priority of a job depends on, besides the job and the settings.
struct PriorityFactors {
  double age = 0;                 // s since the accrual time of the job
  int jobs_submitted_before = 0;  // priority/basic counts down with each of them
  double fair_share = 0;          // the factor of the job's association
  bool is_tested = false;         // nodes have been looked for: all CPUs of whole nodes count
};

class Priorities {
 public:
  /// Requires that `scenario` outlives it.  O(jobs), where PriorityWeightTRES is set.
  explicit Priorities(const Scenario& scenario);

  double priority_of(int job_number, const PriorityFactors& factors) const;

 private:
  const Scenario& scenario_;
  std::vector<double> tres_terms_;  // the PriorityWeightTRES term by job; empty: the weight is 0
};

}  // namespace cosched::slurm
