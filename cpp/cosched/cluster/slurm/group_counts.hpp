// What jobs that share a limit have at the moment.
#pragma once

#include <vector>

#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

/// What jobs of groups have at the moment.
class GroupCounts {
 public:
  /// Requires that `scenario` outlives it.
  explicit GroupCounts(const Scenario& scenario);

  /// No group of the job would be over a limit.
  bool allow(int job) const;
  /// It starts (1) or ends (-1).
  void count(int job, int sign);

 private:
  const Scenario& scenario_;
  std::vector<Group> used_;
};

}  // namespace cosched::cluster::slurm
