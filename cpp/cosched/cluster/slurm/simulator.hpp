// The clocks of slurmctld and the life of jobs around a SlurmController (SLURM.md 0, 2, 3, 6).
#pragma once

#include "cosched/cluster/slurm/controller.hpp"

namespace cosched::cluster::slurm {

struct SlurmRecord {
  bool told = false;   // why jobs started and waited
  bool plans = false;  // every cycle's plan
};

/// Runs all jobs to their end.  Requires that each job fits in its partition.  Deterministic.
SlurmOutcome simulate_slurm(const SlurmMachine& machine, const SlurmParameters& parameters,
                            const std::vector<SlurmJob>& jobs, const SlurmClocks& clocks,
                            const SlurmRecord& record);

}  // namespace cosched::cluster::slurm
