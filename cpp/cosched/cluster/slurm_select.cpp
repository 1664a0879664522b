// Which nodes, and from when: select/linear and select/cons_tres on whole nodes (SLURM.md 5).
#include <algorithm>

#include "cosched/cluster/slurm_controller.hpp"

namespace cosched::cluster {

// Among idle nodes of `allowed` and the job's partition.  select/linear takes the NodeName lines
// one after another and stops as soon as they hold enough.
bool SlurmController::choose_now(int job, const NodeBits& allowed, NodeBits& chosen) {
  const int wanted = given(job).nodes;
  open_ = allowed;
  open_ &= part(job).nodes;
  open_ -= busy_;
  open_ -= cleaning_;
  if (open_.count() < wanted) return false;
  if (cons_tres_ || machine_.lines.size() <= 1) {
    best_fit(open_, wanted, chosen);
    return true;
  }
  some_.clear();
  int have = 0;
  for (const NodeBits& line : machine_.lines) {
    have += line.count_common(open_);
    some_ |= line;
    if (have >= wanted) break;
  }
  some_ &= open_;
  best_fit(some_, wanted, chosen);
  return true;
}

bool SlurmController::will_run(int job, Second now, bool now_only, Second& begin) {
  open_ = avail_;
  open_ -= busy_;
  const int count = open_.count(), wanted = given(job).nodes;
  if (count >= wanted) {
    begin = now;
    best_fit(open_, wanted, chosen_);
    return true;
  }
  if (now_only) return false;
  return cons_tres_ ? will_run_groups(job, count, now, begin) : will_run_linear(job, now, begin);
}

// released_[k]: nodes without a job once the first k running jobs are gone.
void SlurmController::release_in_order() {
  if (released_changes_ == changes_) return;
  released_changes_ = changes_;
  if (released_.size() <= running_.size()) released_.resize(running_.size() + 1);
  released_[0] = up_;
  released_[0] -= busy_;
  for (std::size_t k = 0; k < running_.size(); ++k) {
    released_[k + 1] = released_[k];
    released_[k + 1] |= at(running_[k]).nodes;
  }
}

bool SlurmController::will_run_linear(int job, Second now, Second& begin) {
  const int wanted = given(job).nodes;
  release_in_order();
  std::size_t few = 0, enough = running_.size();  // jobs gone: too few, and (if any) enough
  if (avail_.count_common(released_[enough]) < wanted) return false;
  while (enough - few > 1) {
    const std::size_t middle = (few + enough) / 2;
    (avail_.count_common(released_[middle]) < wanted ? few : enough) = middle;
  }
  open_ = avail_;
  open_ &= released_[enough];
  const Second end = due(running_[enough - 1]);
  begin = end <= now ? now + 1 : end;
  best_fit(open_, wanted, chosen_);
  return true;
}

// select/cons_tres tests after groups of jobs that end close to each other.
bool SlurmController::will_run_groups(int job, int count, Second now, Second& begin) {
  constexpr int kMostInGroup = 200;
  const int wanted = given(job).nodes;
  Second spread = 30, base = kNever;
  std::size_t next = 0;
  while (next < running_.size()) {
    int last = -1;
    for (int removed = 0; next < running_.size();) {
      const int other = running_[next++];
      const NodeBits& held = at(other).nodes;
      const int more = held.count_common(avail_);
      if (more == 0) continue;
      if (base == kNever) base = due(other) + spread - (clocks_.epoch + due(other)) % spread;
      last = other;
      count += more;
      open_ |= held;
      if (next < running_.size() && due(running_[next]) > base + spread) break;
      if (removed++ > kMostInGroup) break;
    }
    if (last < 0) break;
    do {
      spread = window_scale_ ? spread + window_scale_ : spread * 2;
    } while (next < running_.size() && due(running_[next]) > base + spread);
    if (count < wanted) continue;
    open_ &= avail_;
    begin = expected_end(last, now);
    best_fit(open_, wanted, chosen_);
    return true;
  }
  return false;
}

// Of a job that may be past its limit.
Second SlurmController::expected_end(int job, Second now) const {
  const Second end = due(job);
  if (end > now) return end;
  if (over_time_ >= kNever) return now + state_[static_cast<std::size_t>(job)].limit;
  return std::max(now + 1, end + kill_wait_ + over_time_);
}

}  // namespace cosched::cluster
