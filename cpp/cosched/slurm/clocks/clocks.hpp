// The clocks of slurmctld (RULES.md 0, 2.1 to 2.3, 3): when its loop ticks, when a main pass, a
// limit check or a backfill cycle is due.  Each answers from what it was told; none knows of jobs.
#pragma once

#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

/// What a recorded cycle did between two rests.
struct Slice {
  double over;  // when it rested, or ended
  int looked;   // jobs that the cycle had looked at by then
  double
      resumes;  // when it went on; infinite: it gave up there, not a number: nothing cut it short
  bool amid = false;  // between two tries of the next job, where that has any
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
  double launch = 0;              // s from a start to the first second of work, and back
  double epilog = 0;              // s from the end of a job until its nodes are free
  double noise = 0;               // launch and epilog of a job: times 1 - noise to 1 + noise
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
  std::vector<double> cycles;  // recorded begins of cycles: replay; empty = by the rules
  std::vector<double> checks;  // recorded limit checks that ended a job: replay
  // Recorded passes of the main scheduler and whether they were full ones, and seconds from a job's
  // start to its end (not a number: not recorded), by job: replay.
  std::vector<std::pair<double, bool>> passes;
  std::vector<double> lengths;
  // As recorded, by job (not a number: not recorded): s from when a pass or cycle began or went on
  // until it started the job, and from its end until its nodes were free; what each of `cycles`
  // did.
  std::vector<double> delays, epilogs;
  std::vector<std::vector<Slice>> slices;
  // Jobs: when all of them have started, the run is over; empty = when all have ended.
  std::vector<int> watched;
  Periods periods;

  /// Of a controller that waits for a slurmdbd before its loop begins.
  Clocks behind_slurmdbd() const {
    Clocks later = *this;
    later.controller_start += decay_after;
    return later;
  }

  /// Down to a multiple of `grid` of the Unix clock.
  Second rounded(Second time, Second grid) const {
    const Second rest = (((epoch + time) % grid) + grid) % grid;
    return time - rest;
  }
};

/// The background loop.
class Loop {
 public:
  /// `since_24`: it ticks at the turns of seconds.
  Loop(const Clocks& clocks, bool since_24)
      : begin_(since_24 ? std::floor(clocks.controller_start) + kTurn
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
  static constexpr double kTurn = 0.005;

  double begin_, period_;  // tick k is at begin + k period
};

/// When the time limits of jobs are checked.
class LimitClock {
 public:
  LimitClock(const Clocks& clocks, bool since_24)
      : periods_(clocks.periods),
        loop_(clocks, since_24),
        recorded_(clocks.checks),
        last_(whole(clocks.controller_start)) {}

  double due() const {
    if (!recorded_.empty()) return checks_ < recorded_.size() ? recorded_[checks_] : kInfinity;
    const auto last = static_cast<double>(last_);
    return loop_.tick_at(last + static_cast<double>(periods_.after(last, kPeriodicTimeout)));
  }

  void checked(double time) {
    ++checks_;
    last_ = whole(time);
  }

 private:
  static constexpr Second kPeriodicTimeout = 30;  // between limit checks

  Periods periods_;
  Loop loop_;
  std::vector<double> recorded_;
  std::size_t checks_ = 0;
  Second last_;
};

/// When the main scheduler passes.
class MainClock {
 public:
  MainClock(const Clocks& clocks, const Settings::Main& settings, bool since_24 = false)
      : periods_(clocks.periods),
        loop_(clocks, since_24),
        settings_(settings),
        last_tick_(whole(clocks.controller_start)),
        last_full_(last_tick_),
        passes_(clocks.passes) {}

  /// Something wants a pass, at a tick.
  void request(double time) {
    if (!replays()) requested_ = std::min(requested_, time);
  }

  /// Something wants a pass at once; those that want one too soon after the last wait, and get one.
  void ask(double time, bool full) {
    constexpr double kLate = 4;
    if (replays()) {
      late_ = std::min(late_, time + kLate);
      return;
    }
    pass_ = std::min(pass_, std::max(time, last_pass_ + settings_.min_interval));
    full_ = full_ || full;
  }

  /// The tick that asks for a pass next.
  double tick_due() const {
    if (replays()) return kInfinity;
    const double full = loop_.tick_at(static_cast<double>(last_full_ + interval()));
    if (requested_ == kInfinity) return full;
    const double soonest = static_cast<double>(last_tick_ + delay());
    return std::min(full, loop_.tick_at(std::max(requested_, soonest)));
  }

  void tick(double time) {
    const Second now = whole(time);
    const bool full = now - last_full_ >= interval();
    if (full) last_full_ = now;
    last_tick_ = now;
    requested_ = kInfinity;
    ask(time, full);
  }

  /// The loop's next tick, whether it asks for a pass or not.
  // A recorded pass that comes sooner is where the tick was.
  double next_tick(double time) const {
    const double tick = loop_.tick_at(time);
    if (!replays() || passes_[next_].first > tick + loop_.period()) return tick;
    return passes_[next_].first;
  }

  /// The recorded pass that is due, if any.
  double recorded_pass() const { return replays() ? passes_[next_].first : kInfinity; }
  double pass_due() const { return replays() ? std::min(passes_[next_].first, late_) : pass_; }
  /// The pass that is due begins; whether it is a full one.
  bool begin_pass() {
    if (replays()) {
      const auto [recorded, full] = passes_[next_];
      const bool late = std::exchange(late_, kInfinity) < recorded;
      last_pass_ = late ? last_pass_ : recorded;
      last_tick_ = whole(recorded);
      if (full) last_full_ = last_tick_;
      read_ = true;
      if (!late) ++next_;
      return late || full;
    }
    last_pass_ = std::exchange(pass_, kInfinity);
    read_ = true;
    return std::exchange(full_, false);
  }

 private:
  // In force until the first pass has read the configuration.
  static constexpr Second kFirstDelay = 3, kFirstInterval = 60;

  Second delay() const { return read_ ? settings_.batch_sched_delay : kFirstDelay; }

  Second interval() const {
    const Second configured = read_ ? settings_.interval : kFirstInterval;
    return periods_.after(static_cast<double>(last_full_), configured);
  }

  bool replays() const { return next_ < passes_.size(); }

  Periods periods_;
  Loop loop_;
  Settings::Main settings_;
  bool read_ = false;  // the configuration, by the first pass
  Second last_tick_, last_full_;
  double requested_ = kInfinity;
  double pass_ = kInfinity, last_pass_ = -kInfinity;
  bool full_ = false;
  std::vector<std::pair<double, bool>> passes_;  // recorded
  std::size_t next_ = 0;
  double late_ =
      kInfinity;  // a pass that was not recorded: what it is for came too late for one that was
};

/// When the backfill thread wakes up.
class BackfillClock {
 public:
  BackfillClock(const Clocks& clocks, Second interval)
      : periods_(clocks.periods),
        recorded_(clocks.cycles),
        interval_(interval),
        last_end_(whole(clocks.controller_start)),
        extra_(clocks.sleep_extra),
        nap_(1 + clocks.nap_extra),
        wake_(replays() ? recorded_[0]
                        : clocks.controller_start + static_cast<double>(interval) + extra_) {}

  double wakes_at() const { return wake_; }
  /// The end of the last cycle.
  Second last_end() const { return last_end_; }
  /// The thread is awake: whether a cycle begins.  If not, it sleeps on, and nothing else happens
  /// before `quiet`.
  bool begins_cycle(bool completing, bool more_work, double quiet) {
    if (replays()) return true;
    if (whole(wake_) - last_end_ < interval_ || completing) {
      wake_ += nap_;
    } else if (!more_work) {
      wake_ += nap_ * std::max(1.0, std::ceil((quiet - wake_) / nap_));
    } else {
      return true;
    }
    return false;
  }

  /// The cycle that began is over, after `cost` seconds.
  void cycle_over(double cost) {
    const double over = wake_ + cost;
    last_end_ = whole(over);
    if (!replays())
      wake_ = over + static_cast<double>(periods_.after(over, interval_)) + extra_;
    else if (++cycle_; replays())
      wake_ = recorded_[cycle_];
    else
      wake_ = wake_ + static_cast<double>(interval_) + extra_;
  }

 private:
  bool replays() const { return cycle_ < recorded_.size(); }

  Periods periods_;
  std::vector<double> recorded_;
  std::size_t cycle_ = 0;
  Second interval_, last_end_;
  double extra_, nap_, wake_;
};

}  // namespace cosched::slurm
