// The clocks of slurmctld (RULES.md 0, 2.1 to 2.3, 3): when its loop ticks, when a main pass, a
// limit check or a backfill cycle is due.  Each answers from what it was told; none knows of jobs.
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

/// The background loop.
class BackgroundLoop {
 public:
  /// `since_24`: it ticks at the turns of seconds.
  BackgroundLoop(const Clocks& clocks, bool since_24)
      : begin_(since_24 ? std::floor(clocks.controller_start) + kTickOffset
                        : clocks.controller_start + clocks.tick_offset),
        period_(since_24 ? 1 : clocks.tick_period) {}
  /// The first tick at or after `time`.
  double tick_at(double time) const {
    const double ticks = std::max(1.0, std::ceil((time - begin_) / period_));
    const double tick = begin_ + ticks * period_;
    return tick >= time ? tick : tick + period_;  // rounding
  }

  double period() const { return period_; }

 private:
  static constexpr double kTickOffset = 0.005;

  double begin_, period_;  // tick k is at begin + k period
};

/// When the time limits of jobs are checked.
class LimitClock {
 public:
  LimitClock(const Clocks& clocks, bool since_24)
      : periods_(clocks.periods),
        loop_(clocks, since_24),
        recorded_check_times_(clocks.limit_check_times),
        last_check_(to_second(clocks.controller_start)) {}

  double next_check_time() const {
    if (!recorded_check_times_.empty())
      return check_count_ < recorded_check_times_.size() ? recorded_check_times_[check_count_]
                                                         : kInfinity;
    const auto last = static_cast<double>(last_check_);
    return loop_.tick_at(last + static_cast<double>(periods_.after(last, kPeriodicTimeout)));
  }

  void on_check(double time) {
    ++check_count_;
    last_check_ = to_second(time);
  }

 private:
  static constexpr Second kPeriodicTimeout = 30;  // between limit checks

  Periods periods_;
  BackgroundLoop loop_;
  std::vector<double> recorded_check_times_;
  std::size_t check_count_ = 0;
  Second last_check_;
};

/// When the main scheduler passes.
class MainClock {
 public:
  MainClock(const Clocks& clocks, const Settings::Main& settings, bool since_24 = false)
      : periods_(clocks.periods),
        loop_(clocks, since_24),
        settings_(settings),
        last_tick_(to_second(clocks.controller_start)),
        last_full_pass_(last_tick_),
        recorded_passes_(clocks.main_passes) {}

  /// Something wants a pass, at a tick.
  void request_at_tick(double time) {
    if (!is_replaying()) requested_time_ = std::min(requested_time_, time);
  }

  /// Something wants a pass at once; those that want one too soon after the last wait, and get one.
  void request_now(double time, bool full) {
    constexpr double kLate = 4;
    if (is_replaying()) {
      unrecorded_pass_ = std::min(unrecorded_pass_, time + kLate);
      return;
    }
    next_pass_ = std::min(next_pass_, std::max(time, last_pass_ + settings_.min_interval));
    is_next_pass_full_ = is_next_pass_full_ || full;
  }

  /// The tick that asks for a pass next.
  double next_requesting_tick() const {
    if (is_replaying()) return kInfinity;
    const double full = loop_.tick_at(static_cast<double>(last_full_pass_ + interval()));
    if (requested_time_ == kInfinity) return full;
    const double soonest = static_cast<double>(last_tick_ + delay());
    return std::min(full, loop_.tick_at(std::max(requested_time_, soonest)));
  }

  void on_tick(double time) {
    const Second now = to_second(time);
    const bool full = now - last_full_pass_ >= interval();
    if (full) last_full_pass_ = now;
    last_tick_ = now;
    requested_time_ = kInfinity;
    request_now(time, full);
  }

  /// The loop's next tick, whether it asks for a pass or not.
  // A recorded pass that comes sooner is where the tick was.
  double next_tick(double time) const {
    const double tick = loop_.tick_at(time);
    if (!is_replaying() || recorded_passes_[next_recorded_pass_].first > tick + loop_.period())
      return tick;
    return recorded_passes_[next_recorded_pass_].first;
  }

  /// The recorded pass that is due, if any.
  double recorded_pass_time() const {
    return is_replaying() ? recorded_passes_[next_recorded_pass_].first : kInfinity;
  }
  double next_pass_time() const {
    return is_replaying() ? std::min(recorded_passes_[next_recorded_pass_].first, unrecorded_pass_)
                          : next_pass_;
  }
  /// The pass that is due begins; whether it is a full one.
  bool begin_pass() {
    if (is_replaying()) {
      const auto [recorded, full] = recorded_passes_[next_recorded_pass_];
      const bool late = std::exchange(unrecorded_pass_, kInfinity) < recorded;
      last_pass_ = late ? last_pass_ : recorded;
      last_tick_ = to_second(recorded);
      if (full) last_full_pass_ = last_tick_;
      is_config_loaded_ = true;
      if (!late) ++next_recorded_pass_;
      return late || full;
    }
    last_pass_ = std::exchange(next_pass_, kInfinity);
    is_config_loaded_ = true;
    return std::exchange(is_next_pass_full_, false);
  }

 private:
  // In force until the first pass has read the configuration.
  static constexpr Second kFirstDelay = 3, kFirstInterval = 60;

  Second delay() const { return is_config_loaded_ ? settings_.batch_sched_delay : kFirstDelay; }

  Second interval() const {
    const Second configured = is_config_loaded_ ? settings_.interval : kFirstInterval;
    return periods_.after(static_cast<double>(last_full_pass_), configured);
  }

  bool is_replaying() const { return next_recorded_pass_ < recorded_passes_.size(); }

  Periods periods_;
  BackgroundLoop loop_;
  Settings::Main settings_;
  bool is_config_loaded_ = false;  // the configuration, by the first pass
  Second last_tick_, last_full_pass_;
  double requested_time_ = kInfinity;
  double next_pass_ = kInfinity, last_pass_ = -kInfinity;
  bool is_next_pass_full_ = false;
  std::vector<std::pair<double, bool>> recorded_passes_;  // recorded
  std::size_t next_recorded_pass_ = 0;
  double unrecorded_pass_ =
      kInfinity;  // a pass that was not recorded: what it is for came too late for one that was
};

/// When the backfill thread wakes up.
class BackfillClock {
 public:
  BackfillClock(const Clocks& clocks, Second interval)
      : periods_(clocks.periods),
        recorded_cycles_(clocks.cycle_times),
        interval_(interval),
        last_cycle_end_(to_second(clocks.controller_start)),
        sleep_extra_(clocks.sleep_extra),
        sleep_second_(1 + clocks.nap_extra),
        wake_time_(is_replaying()
                       ? recorded_cycles_[0]
                       : clocks.controller_start + static_cast<double>(interval) + sleep_extra_) {}

  double wake_time() const { return wake_time_; }
  /// The end of the last cycle.
  Second last_cycle_end() const { return last_cycle_end_; }
  /// The thread is awake: whether a cycle begins.  If not, it sleeps on, and nothing else happens
  /// before `quiet`.
  bool should_begin_cycle(bool completing, bool more_work, double quiet) {
    if (is_replaying()) return true;
    if (to_second(wake_time_) - last_cycle_end_ < interval_ || completing) {
      wake_time_ += sleep_second_;
    } else if (!more_work) {
      wake_time_ += sleep_second_ * std::max(1.0, std::ceil((quiet - wake_time_) / sleep_second_));
    } else {
      return true;
    }
    return false;
  }

  /// The cycle that began is over, after `cost` seconds.
  void on_cycle_end(double cost) {
    const double over = wake_time_ + cost;
    last_cycle_end_ = to_second(over);
    if (!is_replaying()) {
      wake_time_ = over + static_cast<double>(periods_.after(over, interval_)) + sleep_extra_;
      return;
    }
    ++cycle_;
    if (is_replaying())
      wake_time_ = recorded_cycles_[cycle_];
    else  // after the last recorded cycle
      wake_time_ = wake_time_ + static_cast<double>(interval_) + sleep_extra_;
  }

 private:
  bool is_replaying() const { return cycle_ < recorded_cycles_.size(); }

  Periods periods_;
  std::vector<double> recorded_cycles_;
  std::size_t cycle_ = 0;
  Second interval_, last_cycle_end_;
  double sleep_extra_, sleep_second_, wake_time_;
};

}  // namespace cosched::slurm
