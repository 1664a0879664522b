// Many runs from one state, each with clocks, run times and submissions of its own, in several
// threads.
#pragma once

#include <functional>

#include "cosched/core/times.hpp"
#include "cosched/slurm/simulate/simulator.hpp"

namespace cosched::slurm {

/// A submission that is drawn: a job as one of the scenario's, and how long it runs.
struct Arrival {
  int template_job;
  double submit, run_length;
};

struct Replication {
  Clocks clocks;  // lengths: of the jobs that are there, or none
  std::vector<Arrival> arrivals;
};

/// A row a future, a column a job that is there.
struct ReplicationTable {
  Table start_times;     // whole seconds; not a number: it did not
  Table kill_times;      // when the limit check ended it; not a number: it did not
  Table paused_seconds;  // how long it was suspended (s)
  // By future, jobs that a limit kept, and its name.
  std::vector<std::vector<std::pair<int, std::string>>> blocked_by_limit;
  std::optional<Outcome> first_outcome;  // of the first future, whole
};

/// Simulates each future.  The first `there` jobs of the scenario are in all of them, the others
/// only as what comes is like.  In this thread `done` is called with the number of futures that are
/// over, again and again, and the time limit of this thread holds for all; what one throws ends
/// all.  Requires 0 <= `there` <= jobs, `threads` >= 1.
ReplicationTable simulate_all(const Scenario& scenario, int there,
                              const std::vector<Replication>& futures, int threads,
                              const std::function<void(int)>& done);

}  // namespace cosched::slurm
