// Time as slurmctld has it: whole seconds of the controller (RULES.md 0).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cosched::slurm {

/// From the time base of the jobs.
using Second = std::int64_t;
inline constexpr Second kNever = std::numeric_limits<Second>::max() / 4;

/// The second that an instant is in.
inline Second whole(double time) { return static_cast<Second>(std::floor(time)); }
/// A length of time, which may be infinite.
inline Second length_of(double seconds) {
  return seconds < static_cast<double>(kNever) ? whole(seconds) : kNever;
}

}  // namespace cosched::slurm
