// What can be said of a run when it is over.
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/state/journal.hpp"

namespace cosched::slurm {

/// Drops pauses of jobs whose work is done: slurmctld, which stops and wakes them, does not know it
/// yet.  One that is ended while it stands still had its end when it stopped.
void trim_pauses_after_completion(const Scenario& scenario, const Clocks& clocks, Outcome& outcome);

/// Whom the limit of another job keeps for ever, too: tasks of its array, and jobs that wait for
/// it.
void propagate_blocks(const Scenario& scenario, Outcome& outcome);

}  // namespace cosched::slurm
