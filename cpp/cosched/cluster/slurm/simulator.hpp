// The clocks of slurmctld and the life of jobs around its tables (RULES.md 0, 6).
#pragma once

#include "cosched/cluster/slurm/clocks.hpp"
#include "cosched/cluster/slurm/journal.hpp"
#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

/// Runs all jobs to their end.  Deterministic.
Outcome simulate(const Scenario& scenario, const Clocks& clocks, const Record& record);

}  // namespace cosched::cluster::slurm
