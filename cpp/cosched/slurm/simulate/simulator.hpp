// The clocks of slurmctld and the life of jobs around its tables (RULES.md 0, 6).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/state/journal.hpp"

namespace cosched::slurm {

/// Runs all jobs to their end.  Deterministic.
Outcome simulate(const Scenario& scenario, const Clocks& clocks, const RecordOptions& record);

}  // namespace cosched::slurm
