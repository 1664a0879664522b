// When the backfill thread wakes up (RULES.md 3).
#pragma once

#include <memory>

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

/// The clock of the backfill thread (`backfill_agent`).
class BackfillClock {
 public:
  virtual ~BackfillClock() = default;

  virtual double wake_time() const = 0;
  /// The second in which the last cycle ended.
  virtual Second last_cycle_end() const = 0;
  /// The thread has woken up.  Returns whether a cycle begins; else the thread sleeps again.
  /// Requires that no other event happens before `quiet_until`: the thread may skip the checks
  /// until then.
  virtual bool begin_cycle_or_sleep(bool is_completing, bool has_more_work, double quiet_until) = 0;
  /// The cycle that began is over after `duration` seconds.
  virtual void on_cycle_end(double duration) = 0;
};

/// The clock of the recorded cycles, where `clocks` has some, else that of the rules; `interval`:
/// bf_interval.
std::unique_ptr<BackfillClock> make_backfill_clock(const Clocks& clocks, Second interval);

}  // namespace cosched::slurm
