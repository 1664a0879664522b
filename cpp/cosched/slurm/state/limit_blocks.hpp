// Which limit keeps a waiting job when a simulation begins, and whose jobs must end (RULES.md 14).
#pragma once

#include <optional>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// A limit that a job violates.
struct LimitBlock {
  std::string reason;  // as squeue writes it
  double limit;
  double used;                     // by running jobs; 0 where each job has the limit by itself
  std::vector<int> blocking_jobs;  // that run and count in it
};

/// By job; none: no limit is in the way, or the job runs.
std::vector<std::optional<LimitBlock>> limit_blocks(const Scenario& scenario);

}  // namespace cosched::slurm
