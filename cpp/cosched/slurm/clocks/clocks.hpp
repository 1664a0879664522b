// Parameters of the clocks of slurmctld (RULES.md 0, 2.1 to 2.3, 3): the two hidden numbers of rule
// 0.4, delays of the host, and the times of a recording.
#pragma once

#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

/// What a recorded cycle did between two yields of its locks.
struct Slice {
  double end_time;    // when it yielded, or ended
  int jobs_examined;  // how many jobs the cycle had examined by then
  // When it resumed; infinite: it gave up there; not a number: it was at the end of its queue.
  double resume_time;
  bool ends_mid_job = false;  // it yielded between two tries of one job
};

/// Periods of backfill cycles, periodic main passes and limit checks.  In the distant future they
/// are at least kDistantPeriod: a start that is months away needs no exact cycles.
struct Periods {
  static constexpr Second kDistantPeriod = 1800;
  double distant_time = kInfinity;  // s on the time base of the jobs

  /// The period of what last happened at `time` and is configured to happen every `configured` s.
  Second after(double time, Second configured) const {
    return time < distant_time ? configured : std::max(configured, kDistantPeriod);
  }
};

/// The parameters of all clocks of a simulation.
struct Clocks {
  double controller_start = -60;  // s on the time base of the jobs
  Second epoch = 0;               // Unix time of that base's 0
  double launch_delay = 0;        // s from a start to the first second of work, and back
  double epilog_delay = 0;        // s from the end of a job until its nodes are free
  double relative_noise = 0;      // launch and epilog of a job: times 1 - noise to 1 + noise
  std::uint64_t noise_seed = 0;
  double tick_period = 1;  // s: the background loop, with its work
  double tick_offset = 0;  // s from the controller's start to its loop
  // s from the controller's start to that of the thread that accounts usage, behind which the
  // background loop begins
  double decay_after = 0;
  double sleep_extra = 0;  // s that a sleep of bf_interval takes longer
  double nap_extra = 0;    // s that a sleep of one second takes longer
  double cycle_cost = 0;   // s that each backfill cycle takes
  double test_cost = 0;    // s more for each job that it tests
  double start_cost = 0;   // s more for each job that it starts

  // Times of a recording that is replayed; empty: the rules decide.
  std::vector<double> cycle_times;                   // when backfill cycles began
  std::vector<std::vector<Slice>> slices;            // of each of these cycles
  std::vector<double> limit_check_times;             // of limit checks that ended a job
  std::vector<std::pair<double, bool>> main_passes;  // of the main scheduler; is it a full one?
  // By job, s; not a number: not recorded.
  std::vector<double> run_lengths;    // from its start to its end
  std::vector<double> start_delays;   // from when a pass or cycle began or resumed to its start
  std::vector<double> epilog_delays;  // from its end until its nodes were free

  // When all of these jobs have started, the run is over; empty: when all jobs have ended.
  std::vector<int> watched_jobs;
  Periods periods;

  /// The clocks of a controller that waits for a slurmdbd before its loop begins.
  Clocks after_slurmdbd_start() const {
    Clocks later = *this;
    later.controller_start += decay_after;
    return later;
  }

  /// `time` rounded down to a multiple of `grid` of the Unix clock.
  Second round_down(Second time, Second grid) const {
    const Second rest = (((epoch + time) % grid) + grid) % grid;
    return time - rest;
  }
};

}  // namespace cosched::slurm
