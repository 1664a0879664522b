#include "cosched/moldable/search/search_state.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {

void FreeProfile::clear() {
  times_.assign(1, 0.0);
  free_procs_.assign(1, machines_);
  free_shares_.assign(resources_, 1.0);
}

bool FreeProfile::has_resources_for(std::size_t k, const JobNeed& need) const {
  const double* rest = &free_shares_[k * resources_];
  for (int r = 0; r < resources_; ++r)
    if (need.shares[r] > rest[r] + kExactTolerance) return false;
  return true;
}

double FreeProfile::earliest_start(const JobNeed& need, double length, double from) {
  const std::size_t size = times_.size();
  const auto fits = [&, free = free_procs_.data(), procs = need.procs,
                     plain = resources_ == 0](std::size_t at) {
    return free[at] >= procs && (plain || has_resources_for(at, need));
  };
  std::size_t k =
      from <= 0 ? 0 : std::upper_bound(times_.begin(), times_.end(), from) - times_.begin() - 1;
  const std::size_t first = k;
  for (;;) {
    while (!fits(k)) ++k;  // the last one is all free
    const double start = std::max(from, times_[k]), end = start + length;
    std::size_t next = k + 1;
    while (next < size && times_[next] < end && fits(next)) ++next;
    if (next == size || times_[next] >= end) {
      operations_ += static_cast<std::int64_t>(next - first);
      return start;
    }
    k = next;
  }
}

// The number of the breakpoint at `at`, made if need be.
std::size_t FreeProfile::insert_breakpoint(double at) {
  const auto place = std::lower_bound(times_.begin(), times_.end(), at);
  const auto k = static_cast<std::size_t>(place - times_.begin());
  if (place != times_.end() && *place == at) return k;
  times_.insert(place, at);
  free_procs_.insert(free_procs_.begin() + static_cast<std::ptrdiff_t>(k), free_procs_[k - 1]);
  if (resources_ == 0) return k;
  free_shares_.insert(free_shares_.begin() + static_cast<std::ptrdiff_t>(k * resources_),
                      resources_, 0.0);
  std::copy_n(&free_shares_[(k - 1) * resources_], resources_, &free_shares_[k * resources_]);
  return k;
}

void FreeProfile::change_usage(double start, double end, const JobNeed& need, int sign) {
  if (!(start < end)) return;  // a start so late that adding the time does not change it
  const std::size_t first = insert_breakpoint(start), last = insert_breakpoint(end);
  const int procs = sign * need.procs;
  for (std::size_t k = first; k < last; ++k) free_procs_[k] += procs;
  if (resources_ > 0)
    for (std::size_t k = first * resources_; k < last * resources_; ++k)
      free_shares_[k] += sign * need.shares[k % resources_];
  operations_ += static_cast<std::int64_t>(last - first) + 4;
  // Breakpoints where nothing changes any more go.
  for (const std::size_t k : {last, first}) {
    if (k == 0 || free_procs_[k] != free_procs_[k - 1]) continue;
    const auto at = free_shares_.begin() + static_cast<std::ptrdiff_t>(k * resources_);
    if (resources_ > 0 && !std::equal(at - resources_, at, at)) continue;
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(k));
    free_procs_.erase(free_procs_.begin() + static_cast<std::ptrdiff_t>(k));
    if (resources_ > 0) free_shares_.erase(at, at + resources_);
  }
}

namespace {

constexpr double kAreaPart = 0.05;  // of the mean load, beside the makespan
constexpr double kLatePart = 0.5;   // of the mean lateness of processors
constexpr int kAllUpTo = 16;        // counts that are never left out
constexpr int kMostAll = 64;        // machines up to which none is
constexpr double kStep = 1.1;

}  // namespace

std::vector<std::vector<int>> useful_counts(const Instance& instance) {
  std::vector<std::vector<int>> counts(instance.jobs());
  const int most = instance.useful_machines();
  Poll poll;
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int q = instance.fewest_procs(i); q > 0;) {
      counts[i].push_back(q);
      poll.count(20);
      const int from = most <= kMostAll || q < kAllUpTo ? q : static_cast<int>(q * kStep);
      if (from > most) break;
      q = instance.next_faster_procs(i, from);
    }
    const int fastest = instance.gamma(i, instance.least_time(i));
    if (counts[i].back() < fastest) counts[i].push_back(fastest);
  }
  return counts;
}

MutableSchedule::MutableSchedule(const Instance& instance, Objective objective, double target)
    : instance_(&instance),
      objective_(objective),
      target_(target),
      placement_(empty_placement(instance.jobs())),
      profile_(instance.machines()) {}

void MutableSchedule::load(const Placement& placement) {
  placement_ = placement;
  profile_.clear();
  Poll poll;
  for (const int i : order_by_start()) {
    profile_.occupy(placement_.start[i], placement_.end[i], {placement_.procs[i]});
    poll.count(50 + placement_.jobs());
  }
}

// By value: the counts may be those of placement_.
void MutableSchedule::decode(const std::vector<int>& order, Allotment procs) {
  Poll poll;
  std::int64_t before = profile_.operations();
  profile_.place_in_order(
      order, [&](int i) { return instance_->release(i); },
      [&](int i) {
        return std::pair(JobNeed{instance_->used_procs(i, procs[i])}, instance_->time(i, procs[i]));
      },
      [&](int i, double start) {
        place(*instance_, placement_, i, procs[i], start);
        poll.count(profile_.operations() - std::exchange(before, profile_.operations()) + 50);
      });
  operations_ += 10 * static_cast<std::int64_t>(order.size());
}

void MutableSchedule::remove_job(int job) {
  profile_.release(placement_.start[job], placement_.end[job], {placement_.procs[job]});
}

void MutableSchedule::insert_job(int job, int procs) {
  restore_job(
      job, procs,
      profile_.earliest_start({procs}, instance_->time(job, procs), instance_->release(job)));
}

double MutableSchedule::earliest_end(int job, int procs) {
  const double length = instance_->time(job, procs);
  return profile_.earliest_start({procs}, length, instance_->release(job)) + length;
}

void MutableSchedule::restore_job(int job, int procs, double start) {
  place(*instance_, placement_, job, procs, start);
  profile_.occupy(start, placement_.end[job], {placement_.procs[job]});
  operations_ += 10;
}

double MutableSchedule::value() const {
  if (objective_ == Objective::minsum) return weighted_completion(*instance_, placement_);
  double area = 0, late = 0;
  for (int i = 0; i < placement_.jobs(); ++i) {
    const int procs = placement_.procs[i];
    area += procs * (placement_.end[i] - placement_.start[i]);
    late += procs * std::max(0.0, placement_.end[i] - target_);
  }
  return makespan(placement_) + (kAreaPart * area + kLatePart * late) / instance_->machines();
}

}  // namespace cosched::moldable::search
