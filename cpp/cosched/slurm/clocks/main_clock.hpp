// When the main scheduler passes (RULES.md 2.1 to 2.3).
#pragma once

#include <memory>

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

/// The clock of the main scheduler.  It knows of no jobs: it answers from what it is told.
class MainClock {
 public:
  virtual ~MainClock() = default;

  /// Something wants a pass at a tick.
  virtual void request_at_tick(double time) = 0;
  /// Something wants a pass at once.  A pass that is wanted too soon after the last one comes
  /// later.
  virtual void request_now(double time, bool full) = 0;
  /// The next tick that asks for a pass.
  virtual double next_requesting_tick() const = 0;
  virtual void on_tick(double time) = 0;
  /// The next tick of the loop at or after `time`, whether it asks for a pass or not.
  virtual double next_tick(double time) const = 0;
  /// When the next pass of a recording is; infinite: there is none.
  virtual double recorded_pass_time() const = 0;
  virtual double next_pass_time() const = 0;
  /// The pass that is due begins.  True: it is a full one.
  virtual bool begin_pass() = 0;
};

/// The clock of the recorded passes, where `clocks` has some, else that of the rules.  `since_24`:
/// the loop ticks at the turns of seconds.
std::unique_ptr<MainClock> make_main_clock(const Clocks& clocks, const Settings::Main& settings,
                                           bool since_24);

}  // namespace cosched::slurm
