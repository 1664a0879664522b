// When the main scheduler passes (RULES.md 2.1 to 2.3).
#pragma once

#include <memory>

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

/// The clock of the main scheduler.  It knows no jobs: only requests, ticks and passes.
class MainClock {
 public:
  virtual ~MainClock() = default;

  /// An event requests a pass at a tick.
  virtual void request_at_tick(double time) = 0;
  /// An event requests a pass at once.  A pass that is requested too soon after the last one is
  /// postponed.
  virtual void request_now(double time, bool is_full) = 0;
  /// The next tick that requests a pass.
  virtual double next_requesting_tick() const = 0;
  virtual void on_tick(double time) = 0;
  /// The next tick of the loop at or after `time`, whether it requests a pass or not.
  virtual double next_tick(double time) const = 0;
  /// When the next pass of a recording is; infinite: there is none.
  virtual double recorded_pass_time() const = 0;
  virtual double next_pass_time() const = 0;
  /// The next pass begins.  Returns whether it is a full one.
  virtual bool begin_pass() = 0;
};

/// The clock of the recorded passes, where `clocks` has some, else that of the rules.
std::unique_ptr<MainClock> make_main_clock(const Clocks& clocks, const Settings::Main& settings,
                                           bool is_24_11);

}  // namespace cosched::slurm
