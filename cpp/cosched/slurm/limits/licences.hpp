// Licences: how many of each are free (RULES.md 9.6).
#pragma once

#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

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
