// Corrections of an outcome when the simulation is over.
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/state/outcome.hpp"

namespace cosched::slurm {

/// Drops pauses that begin after the work of a job is done: slurmctld, which suspends and resumes
/// jobs, learns of that later.  A job that was ended while it was suspended has ended when it was
/// suspended.
void trim_pauses_after_completion(const Scenario& scenario, const Clocks& clocks, Outcome& outcome);

/// Adds jobs that never start because a limit keeps another job from starting: tasks of its array,
/// and jobs that depend on it.
void propagate_blocks(const Scenario& scenario, Outcome& outcome);

}  // namespace cosched::slurm
