// Licences: how many of each are free (RULES.md 9.6).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Licences {
 public:
  /// Requires that `scenario` outlives it.
  explicit Licences(const Scenario& scenario)
      : scenario_(scenario), free_counts_(scenario.machine().licences) {}

  /// True when all licences that the job asks for are free.
  bool are_available(int job) const {
    if (free_counts_.empty()) return true;
    for (const auto& [licence, count] : scenario_.job(job).conditions.licences)
      if (free_counts_[licence] < count) return false;
    return true;
  }
  void allocate(int job) { change_free_counts(job, -1); }
  void release(int job) { change_free_counts(job, 1); }

 private:
  void change_free_counts(int job, int sign) {
    for (const auto& [licence, count] : scenario_.job(job).conditions.licences)
      free_counts_[licence] += sign * count;
  }

  const Scenario& scenario_;
  std::vector<int> free_counts_;  // by licence
};

}  // namespace cosched::slurm
