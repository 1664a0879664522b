// Which nodes, and from when: select/linear and select/cons_tres on whole nodes (SLURM.md 5).
#include <algorithm>

#include "cosched/cluster/slurm/controller.hpp"

namespace cosched::cluster::slurm {

// Running jobs in order of their ends, in the groups after which select/cons_tres tests.
class SlurmController::Groups {
 public:
  explicit Groups(const SlurmController& controller) : of_(controller) {}

  /// Calls gone(job) for each job of the next group that has a node in `avail`; false: none left.
  template <class Gone>
  bool next(const NodeBits& avail, Gone gone) {
    constexpr int kMost = 200;
    const auto& running = of_.running_;
    last_ = -1;
    for (int removed = 0; next_ < running.size();) {
      const int other = running[next_++];
      if (!of_.state_[static_cast<std::size_t>(other)].nodes.meets(avail)) continue;
      const Second end = of_.due(other);
      if (base_ == kNever) base_ = end + spread_ - (of_.clocks_.epoch + end) % spread_;
      last_ = other;
      gone(other);
      if (next_ < running.size() && of_.due(running[next_]) > base_ + spread_) break;
      if (removed++ > kMost) break;
    }
    if (last_ < 0) return false;
    do {
      spread_ = of_.window_scale_ ? spread_ + of_.window_scale_ : spread_ * 2;
    } while (next_ < running.size() && of_.due(running[next_]) > base_ + spread_);
    return true;
  }
  int last() const { return last_; }

 private:
  const SlurmController& of_;
  std::size_t next_ = 0;
  Second spread_ = 30, base_ = kNever;
  int last_ = -1;
};

// Among idle nodes of `allowed` and the job's partition.  select/linear takes the NodeName lines
// one after another and stops as soon as they hold enough.
bool SlurmController::choose_now(int job, const NodeBits& allowed, NodeBits& chosen) {
  const int wanted = given(job).nodes;
  open_ = allowed;
  open_ &= part(job).nodes;
  open_ -= busy_;
  open_ -= cleaning_;
  if (open_.count() < wanted) return false;
  if (own_cores()) return best_fit_cores(open_, free_cores_, given(job).cpus, chosen);
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
  if (own_cores()) return will_run_cores(job, now, now_only, begin);
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

bool SlurmController::will_run_groups(int job, int count, Second now, Second& begin) {
  const int wanted = given(job).nodes;
  Groups groups(*this);
  while (groups.next(avail_, [&](int other) {
    const NodeBits& held = at(other).nodes;
    count += held.count_common(avail_);
    open_ |= held;
  })) {
    if (count < wanted) continue;
    open_ &= avail_;
    begin = expected_end(groups.last(), now);
    best_fit(open_, wanted, chosen_);
    return true;
  }
  return false;
}

bool SlurmController::will_run_cores(int job, Second now, bool now_only, Second& begin) {
  const int wanted = given(job).cpus;
  if (best_fit_cores(avail_, free_cores_, wanted, chosen_)) {
    begin = now;
    return true;
  }
  if (now_only) return false;
  later_cores_ = free_cores_;
  Groups groups(*this);
  while (groups.next(avail_, [&](int other) {
    std::size_t k = 0;
    for (const int node : at(other).nodes.list())
      later_cores_[node] += outcome_.cores[static_cast<std::size_t>(other)][k++];
  })) {
    if (!best_fit_cores(avail_, later_cores_, wanted, chosen_)) continue;
    begin = expected_end(groups.last(), now);
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

}  // namespace cosched::cluster::slurm
