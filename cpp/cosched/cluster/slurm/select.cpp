#include "cosched/cluster/slurm/select.hpp"

#include <algorithm>

#include "cosched/cluster/slurm/best_fit.hpp"

namespace cosched::cluster::slurm {

// Running jobs in order of their ends, in the groups after which select/cons_tres tests.
class Select::Groups {
 public:
  Groups(const Allocations& allocations, Second epoch, int window_linear)
      : of_(allocations), epoch_(epoch), window_linear_(window_linear) {}

  /// Calls gone(job) for each job of the next group that has a node in `avail`; returns the last
  /// of them, or -1: none left.
  template <class Gone>
  int next(const NodeBits& avail, Gone gone) {
    constexpr int kMost = 200;
    const std::vector<int>& running = of_.running();
    int last = -1;
    for (int removed = 0; next_ < running.size();) {
      const int other = running[next_++];
      if (!of_.nodes(other).meets(avail)) continue;
      const Second end = of_.due(other);
      if (base_ == kNever) base_ = end + spread_ - (epoch_ + end) % spread_;
      last = other;
      gone(other);
      if (outside_window()) break;
      if (removed++ > kMost) break;
    }
    if (last < 0) return last;
    do {
      spread_ = window_linear_ ? spread_ + window_linear_ : spread_ * 2;
    } while (outside_window());
    return last;
  }

 private:
  bool outside_window() const {
    const std::vector<int>& running = of_.running();
    return next_ < running.size() && of_.due(running[next_]) > base_ + spread_;
  }

  const Allocations& of_;
  const Second epoch_;
  const int window_linear_;
  std::size_t next_ = 0;
  Second spread_ = 30, base_ = kNever;
};

Select::Select(const Scenario& scenario, const Allocations& allocations, Second epoch)
    : scenario_(scenario),
      allocations_(allocations),
      epoch_(epoch),
      open_(scenario.machine().nodes),
      some_(scenario.machine().nodes),
      chosen_now_(scenario.machine().nodes),
      chosen_then_(scenario.machine().nodes) {}

// select/linear takes the NodeName lines one after another and stops as soon as they hold enough.
const NodeBits* Select::now(int job, const NodeBits& allowed) {
  const Machine& machine = scenario_.machine();
  const int wanted = scenario_.job(job).nodes;
  open_ = allowed;
  open_ &= scenario_.part(job).nodes;
  open_ -= allocations_.busy();
  open_ -= allocations_.cleaning();
  if (open_.count() < wanted) return nullptr;
  if (scenario_.own_cores()) {
    const int cores = scenario_.job(job).cpus;
    const bool enough = best_fit_cores(open_, allocations_.free_cores(), cores, chosen_now_);
    return enough ? &chosen_now_ : nullptr;
  }
  if (scenario_.settings().select.cons_tres || machine.lines.size() <= 1) {
    best_fit(open_, wanted, chosen_now_);
    return &chosen_now_;
  }
  some_.clear();
  int have = 0;
  for (const NodeBits& line : machine.lines) {
    have += line.count_common(open_);
    some_ |= line;
    if (have >= wanted) break;
  }
  some_ &= open_;
  best_fit(some_, wanted, chosen_now_);
  return &chosen_now_;
}

std::optional<Select::Slot> Select::will_run(int job, const NodeBits& avail, Second now,
                                             bool at_once) {
  if (scenario_.own_cores()) return will_run_cores(scenario_.job(job).cpus, avail, now, at_once);
  open_ = avail;
  open_ -= allocations_.busy();
  const int count = open_.count(), wanted = scenario_.job(job).nodes;
  if (count >= wanted) {
    best_fit(open_, wanted, chosen_then_);
    return Slot{now, &chosen_then_};
  }
  if (at_once) return std::nullopt;
  return scenario_.settings().select.cons_tres ? will_run_groups(wanted, avail, count, now)
                                               : will_run_linear(wanted, avail, now);
}

void Select::release_in_order() {
  if (released_changes_ == allocations_.changes()) return;
  released_changes_ = allocations_.changes();
  const std::vector<int>& running = allocations_.running();
  if (released_.size() <= running.size()) released_.resize(running.size() + 1);
  released_[0] = allocations_.up();
  released_[0] -= allocations_.busy();
  for (std::size_t k = 0; k < running.size(); ++k) {
    released_[k + 1] = released_[k];
    released_[k + 1] |= allocations_.nodes(running[k]);
  }
}

std::optional<Select::Slot> Select::will_run_linear(int wanted, const NodeBits& avail, Second now) {
  release_in_order();
  const std::vector<int>& running = allocations_.running();
  std::size_t few = 0, enough = running.size();  // jobs gone: too few, and (if any) enough
  if (avail.count_common(released_[enough]) < wanted) return std::nullopt;
  while (enough - few > 1) {
    const std::size_t middle = (few + enough) / 2;
    (avail.count_common(released_[middle]) < wanted ? few : enough) = middle;
  }
  open_ = avail;
  open_ &= released_[enough];
  best_fit(open_, wanted, chosen_then_);
  const Second end = allocations_.due(running[enough - 1]);
  return Slot{end <= now ? now + 1 : end, &chosen_then_};
}

std::optional<Select::Slot> Select::will_run_groups(int wanted, const NodeBits& avail, int count,
                                                    Second now) {
  Groups groups(allocations_, epoch_, scenario_.settings().select.window_linear);
  const auto gone = [&](int other) {
    const NodeBits& held = allocations_.nodes(other);
    count += held.count_common(avail);
    open_ |= held;
  };
  for (int last; (last = groups.next(avail, gone)) >= 0;) {
    if (count < wanted) continue;
    open_ &= avail;
    best_fit(open_, wanted, chosen_then_);
    return slot_after(last, now);
  }
  return std::nullopt;
}

std::optional<Select::Slot> Select::will_run_cores(int wanted, const NodeBits& avail, Second now,
                                                   bool at_once) {
  if (best_fit_cores(avail, allocations_.free_cores(), wanted, chosen_then_))
    return Slot{now, &chosen_then_};
  if (at_once) return std::nullopt;
  later_cores_ = allocations_.free_cores();
  Groups groups(allocations_, epoch_, scenario_.settings().select.window_linear);
  const auto gone = [&](int other) {
    auto cores = allocations_.cores(other).begin();
    for (const int node : allocations_.nodes(other).list()) later_cores_[node] += *cores++;
  };
  for (int last; (last = groups.next(avail, gone)) >= 0;)
    if (best_fit_cores(avail, later_cores_, wanted, chosen_then_)) return slot_after(last, now);
  return std::nullopt;
}

// When that job, which may be past its limit, has ended.
Select::Slot Select::slot_after(int job, Second now) const {
  const Settings::Select& settings = scenario_.settings().select;
  Second end = allocations_.due(job);
  if (end <= now)
    end = settings.over_time_limit >= kNever
              ? now + scenario_.job(job).limit
              : std::max(now + 1, end + settings.kill_wait + settings.over_time_limit);
  return {end, &chosen_then_};
}

}  // namespace cosched::cluster::slurm
