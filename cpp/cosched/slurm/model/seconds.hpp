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
inline Second whole(double time) {
  constexpr auto kLimit = static_cast<double>(kNever);
  if (!(time < kLimit)) return kNever;
  return time > -kLimit ? static_cast<Second>(std::floor(time)) : -kNever;
}
/// A length of time, which may be infinite.
inline Second length_of(double seconds) {
  return seconds < static_cast<double>(kNever) ? whole(seconds) : kNever;
}

// When slurmctld's tables last changed: what tells a backfill cycle of "more work" (RULES.md 3.2).

struct Updates {
  Second jobs, nodes;  // last_job_update, last_node_update

  void both(Second now) { jobs = nodes = now; }
  bool since(Second moment) const { return jobs >= moment || nodes >= moment; }
};

}  // namespace cosched::slurm
