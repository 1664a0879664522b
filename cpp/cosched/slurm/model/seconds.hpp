// Time as slurmctld counts it: whole seconds of the controller (RULES.md 0).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cosched::slurm {

/// Since the time base of the jobs.
using Second = std::int64_t;
inline constexpr Second kNever = std::numeric_limits<Second>::max() / 4;

/// The second that contains the instant `time`: at most kNever, which also stands for not a number,
/// and at least -kNever.
inline Second to_second(double time) {
  constexpr auto kLimit = static_cast<double>(kNever);
  if (!(time < kLimit)) return kNever;
  return time > -kLimit ? static_cast<Second>(std::floor(time)) : -kNever;
}
/// A length of time in whole seconds; kNever where it is infinite.
inline Second to_duration(double seconds) {
  return seconds < static_cast<double>(kNever) ? to_second(seconds) : kNever;
}

}  // namespace cosched::slurm
