// The backfill thread sleeps and looks for work as Slurm's rules say (RULES.md 3).
#pragma once

#include "cosched/slurm/clocks/backfill_clock.hpp"

namespace cosched::slurm {

class ModelledBackfillClock : public BackfillClock {
 public:
  ModelledBackfillClock(const Clocks& clocks, Second interval)
      : periods_(clocks.periods),
        interval_(interval),
        last_cycle_end_(to_second(clocks.controller_start)),
        sleep_extra_(clocks.sleep_extra),
        sleep_second_(1 + clocks.nap_extra),
        wake_time_(clocks.controller_start + static_cast<double>(interval) + sleep_extra_) {}

  double wake_time() const override { return wake_time_; }
  Second last_cycle_end() const override { return last_cycle_end_; }
  bool begin_cycle_or_sleep(bool is_completing, bool has_more_work, double quiet_until) override;
  void on_cycle_end(double duration) override;

  /// A cycle of a recording is over after `duration` seconds; the next one begins at `next_time`,
  /// or (infinite) bf_interval after the begin of this one.
  void follow_recorded_cycle(double duration, double next_time);
  void wake_at(double time) { wake_time_ = time; }

 private:
  Periods periods_;
  Second interval_;
  Second last_cycle_end_;
  double sleep_extra_;
  double sleep_second_;  // what a sleep of one second takes
  double wake_time_;
};

}  // namespace cosched::slurm
