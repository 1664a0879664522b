// What the clocks of slurmctld know (RULES.md 0, 2.1 to 2.3, 3): the two hidden numbers, what the
// host adds, and the times that a recording tells.
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

/// The two hidden numbers, and what the host adds.
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
  double nap_extra = 0;    // s that a sleep of one second does
  // s of a backfill cycle: of any, for each job that it tests, and for each that it starts
  double cycle_cost = 0, test_cost = 0, start_cost = 0;
  std::vector<double> cycle_times;        // recorded begins of cycles: replay; empty = by the rules
  std::vector<double> limit_check_times;  // recorded limit checks that ended a job: replay
  // Recorded passes of the main scheduler and whether they were full ones, and seconds from a job's
  // start to its end (not a number: not recorded), by job: replay.
  std::vector<std::pair<double, bool>> main_passes;
  std::vector<double> run_lengths;
  // As recorded, by job (not a number: not recorded): s from when a pass or cycle began or went on
  // until it started the job, and from its end until its nodes were free; what each of `cycles`
  // did.
  std::vector<double> start_delays, epilog_delays;
  std::vector<std::vector<Slice>> slices;
  // Jobs: when all of them have started, the run is over; empty = when all have ended.
  std::vector<int> watched_jobs;
  Periods periods;

  /// Of a controller that waits for a slurmdbd before its loop begins.
  Clocks after_slurmdbd_start() const {
    Clocks later = *this;
    later.controller_start += decay_after;
    return later;
  }

  /// Down to a multiple of `grid` of the Unix clock.
  Second round_down(Second time, Second grid) const {
    const Second rest = (((epoch + time) % grid) + grid) % grid;
    return time - rest;
  }
};

}  // namespace cosched::slurm
