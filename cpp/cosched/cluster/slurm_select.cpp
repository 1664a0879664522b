// Which nodes, and from when: select/linear and select/cons_tres on whole nodes (SLURM.md 5).
#include <algorithm>

#include "cosched/cluster/slurm_controller.hpp"

namespace cosched::cluster {

// Among idle nodes of `allowed` and the job's partition.  select/linear takes the NodeName lines
// one after another and stops as soon as they hold enough.
bool SlurmController::choose_now(int job, const NodeBits& allowed, NodeBits& chosen) const {
  const int wanted = given(job).nodes;
  NodeBits candidates = allowed;
  candidates &= part(job).nodes;
  candidates -= busy_;
  candidates -= cleaning_;
  if (candidates.count() < wanted) return false;
  if (!cons_tres_ && machine_.lines.size() > 1) {
    NodeBits some(machine_.nodes);
    int have = 0;
    for (const NodeBits& line : machine_.lines) {
      NodeBits more = line;
      more &= candidates;
      some |= more;
      have += more.count();
      if (have >= wanted) break;
    }
    candidates = some;
  }
  chosen = best_fit(candidates, wanted, machine_.nodes);
  return true;
}

SlurmController::Slot SlurmController::will_run(int job, const NodeBits& avail, Second now,
                                                bool now_only) const {
  NodeBits open = avail;
  open -= busy_;
  const int count = open.count(), wanted = given(job).nodes;
  if (count >= wanted) return {now, best_fit(open, wanted, machine_.nodes), true};
  if (now_only) return {0, NodeBits(), false};
  return cons_tres_ ? will_run_groups(job, avail, std::move(open), count, now)
                    : will_run_linear(job, avail, std::move(open), count, now);
}

SlurmController::Slot SlurmController::will_run_linear(int job, const NodeBits& avail,
                                                       NodeBits open, int count, Second now) const {
  const int wanted = given(job).nodes;
  for (const int other : running_) {
    const NodeBits& held = state_[static_cast<std::size_t>(other)].nodes;
    const int more = held.count_common(avail);
    if (more == 0) continue;
    count += more;
    open |= held;
    if (count < wanted) continue;
    open &= avail;
    const Second end = due(other);
    return {end <= now ? now + 1 : end, best_fit(open, wanted, machine_.nodes), true};
  }
  return {0, NodeBits(), false};
}

// select/cons_tres tests after groups of jobs that end close to each other.
SlurmController::Slot SlurmController::will_run_groups(int job, const NodeBits& avail,
                                                       NodeBits open, int count, Second now) const {
  constexpr int kMostInGroup = 200;
  const int wanted = given(job).nodes;
  Second spread = 30, base = kNever;
  std::size_t next = 0;
  while (next < running_.size()) {
    int last = -1;
    for (int removed = 0; next < running_.size();) {
      const int other = running_[next++];
      const NodeBits& held = state_[static_cast<std::size_t>(other)].nodes;
      const int more = held.count_common(avail);
      if (more == 0) continue;
      if (base == kNever) base = due(other) + spread - (clocks_.epoch + due(other)) % spread;
      last = other;
      count += more;
      open |= held;
      if (next < running_.size() && due(running_[next]) > base + spread) break;
      if (removed++ > kMostInGroup) break;
    }
    if (last < 0) break;
    do {
      spread = window_scale_ ? spread + window_scale_ : spread * 2;
    } while (next < running_.size() && due(running_[next]) > base + spread);
    if (count < wanted) continue;
    open &= avail;
    return {expected_end(last, now), best_fit(open, wanted, machine_.nodes), true};
  }
  return {0, NodeBits(), false};
}

// Of a job that may be past its limit.
Second SlurmController::expected_end(int job, Second now) const {
  const Second end = due(job);
  if (end > now) return end;
  if (over_time_ >= kNever) return now + state_[static_cast<std::size_t>(job)].limit;
  return std::max(now + 1, end + kill_wait_ + over_time_);
}

}  // namespace cosched::cluster
