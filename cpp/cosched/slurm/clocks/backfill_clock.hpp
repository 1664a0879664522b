// When the backfill thread wakes up (RULES.md 3).
#pragma once

#include <memory>

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

class BackfillClock {
 public:
  virtual ~BackfillClock() = default;

  virtual double wake_time() const = 0;
  /// The second in which the last cycle ended.
  virtual Second last_cycle_end() const = 0;
  /// The thread is awake.  True: a cycle begins.  False: the thread sleeps on, and nothing else
  /// happens before `quiet_until`.
  virtual bool should_begin_cycle(bool is_completing, bool has_more_work, double quiet_until) = 0;
  /// The cycle that began is over after `duration` seconds.
  virtual void on_cycle_end(double duration) = 0;
};

/// The clock of the recorded cycles, where `clocks` has some, else that of the rules; `interval`:
/// bf_interval.
std::unique_ptr<BackfillClock> make_backfill_clock(const Clocks& clocks, Second interval);

}  // namespace cosched::slurm
