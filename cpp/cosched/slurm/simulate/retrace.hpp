// Fair-share factors and priorities of a recorded run (RULES.md 13).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// When and where a job ran; not a number: it did not start, or not end.
struct RecordedRun {
  double start;
  double end;
  Shares shares;  // of whole nodes, only their numbers count
};

struct Sample {
  double time;
  std::vector<double> factors;     // fair-share, by association
  std::vector<double> priorities;  // by job; not a number: the job is not in the queue
};

/// Factors and priorities at each of `sample_times`.  Nothing is decided: starts and ends are those
/// of `runs`; passes over the queue are those of `clocks`, and those that submissions, releases and
/// ends ask for.  Requires a run of each job, on no more than its nodes have.
std::vector<Sample> retrace(const Scenario& scenario, const Clocks& clocks,
                            const std::vector<RecordedRun>& runs,
                            const std::vector<double>& sample_times);

}  // namespace cosched::slurm
