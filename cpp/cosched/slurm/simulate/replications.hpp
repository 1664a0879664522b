// Many simulations from one state, each with its own clocks, run times and later submissions, in
// several threads.
#pragma once

#include <functional>

#include "cosched/core/times.hpp"
#include "cosched/slurm/simulate/simulator.hpp"

namespace cosched::slurm {

/// A submission that is drawn at random: a copy of a job of the scenario.
struct Arrival {
  int template_job;
  double submit;
  double run_length;
};

struct Replication {
  Clocks clocks;  // run_lengths: of the initial jobs, or empty
  std::vector<Arrival> arrivals;
};

/// Tables have a row for each replication and a column for each initial job.
struct ReplicationTable {
  Table start_times;     // whole seconds; not a number: the job did not start
  Table kill_times;      // when the limit check ended the job; not a number: it did not
  Table paused_seconds;  // how long the job was suspended (s)
  // By replication, jobs that a limit kept from starting, and its name.
  std::vector<std::vector<std::pair<int, std::string>>> blocked_by_limit;
  std::optional<Outcome> first_outcome;  // of the first replication
};

/// Simulates each replication.  The first `initial_job_count` jobs of the scenario are in all of
/// them; the others are only templates of arrivals.  `report_progress` is called in this thread
/// with the number of finished replications, again and again; the time limit of this thread holds
/// for all threads, and the first exception ends them.  Requires 0 <= initial_job_count <= jobs and
/// threads >= 1.
ReplicationTable simulate_all(const Scenario& scenario, int initial_job_count,
                              const std::vector<Replication>& replications, int threads,
                              const std::function<void(int)>& report_progress);

}  // namespace cosched::slurm
