// Which limit keeps a waiting job when a simulation begins, and whose jobs must end (RULES.md 14).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

struct HeldUp {
  std::string reason;  // as squeue writes it
  double limit, used;
  std::vector<int> jobs;  // that run and count in it
};

/// By job; none: no limit is in the way, or the job runs.
std::vector<std::optional<HeldUp>> held_up(const Scenario& scenario);

}  // namespace cosched::slurm
