// The priority of a pending job (RULES.md 1.3 to 1.7, 13.5).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Priorities {
 public:
  /// Requires that `scenario` outlives it.  O(jobs), where what they ask for has a weight.
  explicit Priorities(const Scenario& scenario);

  /// Of a job whose age is so many seconds; `before`: how many were submitted before it; `fair_share`: the factor of its
  /// association; `tested`: nodes have been looked for, so that all their CPUs are known to be its own.
  double of(int job, double age, int before, double fair_share = 0, bool tested = false) const;

 private:
  const Scenario& scenario_;
  std::vector<double> tres_;  // by job, of what it asks for; empty: that has no weight
};

/// Whether priorities change while jobs wait.
bool priorities_age(const Settings::Priority& settings);

}  // namespace cosched::slurm
