// The clocks of slurmctld and the life of jobs around its tables (RULES.md 0, 6).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/state/journal.hpp"
#include "cosched/slurm/trace/trace_sink.hpp"

namespace cosched::slurm {

/// Settings of the simulator itself.  None of them changes a result.
struct SimulatorParams {
  /// Tests of nodes, tries without a start or reservation, and whole cycles that would come out as
  /// before are remembered instead of repeated (RULES.md 4.9, 4.10).
  bool remembers_answers = true;
};

/// Runs all jobs to their end.  Deterministic.  `trace_sink` gets the traces of the cycles and
/// passes that it wants, and changes nothing; null: of none.
Outcome simulate(const Scenario& scenario, const Clocks& clocks, const RecordOptions& record,
                 TraceSink* trace_sink = nullptr, const SimulatorParams& params = {});

}  // namespace cosched::slurm
