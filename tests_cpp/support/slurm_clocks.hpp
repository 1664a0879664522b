// Clocks without overheads, for the tests of slurm.
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

/// Slice::resume_time of a cycle that came to the end of its queue, and of one that gave up.
inline constexpr double kEndOfQueue = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kGaveUp = kInfinity;

inline Clocks exact_clocks() {
  Clocks clocks;
  clocks.controller_start = 0;
  return clocks;
}

inline Settings::Main main_settings() {
  return to_settings({{"batch_sched_delay", 10}, {"sched_interval", 100}}).main;
}

}  // namespace cosched::slurm
