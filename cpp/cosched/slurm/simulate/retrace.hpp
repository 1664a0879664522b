// Factors and priorities beside jobs that ran when and where a recording says (RULES.md 13).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// When and where a job ran; not a number: it did not start, or not end.
struct RecordedRun {
  double start, end;
  Shares shares;  // of whole nodes, only their numbers count
};

struct Sample {
  double time;
  std::vector<double> factors;     // fair-share, by association
  std::vector<double> priorities;  // by job; not a number: it does not wait in the queue
};

/// What was so at these times.  Nothing is decided: starts and ends are `lives`, passes over the
/// queue those of `clocks` and the moments at which something happens.  Requires a life of each
/// job, with no more than its nodes have.
std::vector<Sample> retrace(const Scenario& scenario, const Clocks& clocks,
                            const std::vector<RecordedRun>& lives,
                            const std::vector<double>& times);

}  // namespace cosched::slurm
