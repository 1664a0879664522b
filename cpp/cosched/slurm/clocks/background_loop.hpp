// When the background loop of slurmctld ticks (RULES.md 0.2, 12.6).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

/// The background loop (`_slurmctld_background`).
class BackgroundLoop {
 public:
  /// Of 24.11 it ticks when a second begins, of 22.05 at its own phase.
  BackgroundLoop(const Clocks& clocks, bool is_24_11)
      : begin_(is_24_11 ? std::floor(clocks.controller_start) + kTickOffset
                        : clocks.controller_start + clocks.tick_offset),
        period_(is_24_11 ? 1 : clocks.tick_period) {}
  /// The first tick at or after `time`.
  double tick_at(double time) const {
    const double ticks = std::max(1.0, std::ceil((time - begin_) / period_));
    const double tick = begin_ + ticks * period_;
    return tick >= time ? tick : tick + period_;  // rounding
  }

  double period() const { return period_; }

 private:
  static constexpr double kTickOffset = 0.005;

  // Tick k is at begin_ + k period_.
  double begin_;
  double period_;
};

}  // namespace cosched::slurm
