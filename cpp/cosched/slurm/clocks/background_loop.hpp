// When the background loop of slurmctld ticks (RULES.md 0.2, 12.6).
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

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

}  // namespace cosched::slurm
