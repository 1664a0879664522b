// Time as slurmctld has it: whole seconds of the controller (RULES.md 0).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cosched::slurm {

/// From the time base of the jobs.
using Second = std::int64_t;
inline constexpr Second kNever = std::numeric_limits<Second>::max() / 4;

/// The second that an instant is in; kNever where it is that late or no number, -kNever where it is
/// as early.
inline Second to_second(double time) {
  constexpr auto kLimit = static_cast<double>(kNever);
  if (!(time < kLimit)) return kNever;
  return time > -kLimit ? static_cast<Second>(std::floor(time)) : -kNever;
}
/// A length of time, which may be infinite.
inline Second to_duration(double seconds) {
  return seconds < static_cast<double>(kNever) ? to_second(seconds) : kNever;
}

// When slurmctld's tables last changed: what tells a backfill cycle of "more work" (RULES.md 3.2).

struct LastUpdates {
  Second last_job_update, last_node_update;  // last_job_update, last_node_update

  void mark_both(Second now) { last_job_update = last_node_update = now; }
  bool has_changed_since(Second moment) const {
    return last_job_update >= moment || last_node_update >= moment;
  }
};

}  // namespace cosched::slurm
