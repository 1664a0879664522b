#include "cosched/moldable/search/search_state.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {

void FreeProfile::clear() {
  time_.assign(1, 0.0);
  free_.assign(1, machines_);
  rest_.assign(resources_, 1.0);
}

bool FreeProfile::rest_fits(std::size_t k, const Need& need) const {
  const double* rest = &rest_[k * resources_];
  for (int r = 0; r < resources_; ++r)
    if (need.shares[r] > rest[r] + kExactTolerance) return false;
  return true;
}

double FreeProfile::earliest(const Need& need, double length, double from) {
  const std::size_t size = time_.size();
  const auto fits = [&, free = free_.data(), procs = need.procs,
                     plain = resources_ == 0](std::size_t at) {
    return free[at] >= procs && (plain || rest_fits(at, need));
  };
  std::size_t k =
      from <= 0 ? 0 : std::upper_bound(time_.begin(), time_.end(), from) - time_.begin() - 1;
  const std::size_t first = k;
  for (;;) {
    while (!fits(k)) ++k;  // the last one is all free
    const double start = std::max(from, time_[k]), end = start + length;
    std::size_t next = k + 1;
    while (next < size && time_[next] < end && fits(next)) ++next;
    if (next == size || time_[next] >= end) {
      operations_ += static_cast<std::int64_t>(next - first);
      return start;
    }
    k = next;
  }
}

// The number of the breakpoint at `at`, made if need be.
std::size_t FreeProfile::cut(double at) {
  const auto place = std::lower_bound(time_.begin(), time_.end(), at);
  const auto k = static_cast<std::size_t>(place - time_.begin());
  if (place != time_.end() && *place == at) return k;
  time_.insert(place, at);
  free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(k), free_[k - 1]);
  if (resources_ == 0) return k;
  rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(k * resources_), resources_, 0.0);
  std::copy_n(&rest_[(k - 1) * resources_], resources_, &rest_[k * resources_]);
  return k;
}

void FreeProfile::change(double start, double end, const Need& need, int sign) {
  if (!(start < end)) return;  // a start so late that adding the time does not change it
  const std::size_t first = cut(start), last = cut(end);
  const int procs = sign * need.procs;
  for (std::size_t k = first; k < last; ++k) free_[k] += procs;
  if (resources_ > 0)
    for (std::size_t k = first * resources_; k < last * resources_; ++k)
      rest_[k] += sign * need.shares[k % resources_];
  operations_ += static_cast<std::int64_t>(last - first) + 4;
  // Breakpoints where nothing changes any more go.
  for (const std::size_t k : {last, first}) {
    if (k == 0 || free_[k] != free_[k - 1]) continue;
    const auto at = rest_.begin() + static_cast<std::ptrdiff_t>(k * resources_);
    if (resources_ > 0 && !std::equal(at - resources_, at, at)) continue;
    time_.erase(time_.begin() + static_cast<std::ptrdiff_t>(k));
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(k));
    if (resources_ > 0) rest_.erase(at, at + resources_);
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
    for (int q = instance.fewest(i); q > 0;) {
      counts[i].push_back(q);
      poll.count(20);
      const int from = most <= kMostAll || q < kAllUpTo ? q : static_cast<int>(q * kStep);
      if (from > most) break;
      q = instance.faster(i, from);
    }
    const int fastest = instance.gamma(i, instance.least_time(i));
    if (counts[i].back() < fastest) counts[i].push_back(fastest);
  }
  return counts;
}

SearchState::SearchState(const Instance& instance, Objective objective, double target)
    : instance_(&instance),
      objective_(objective),
      target_(target),
      placement_(unplaced(instance.jobs())),
      profile_(instance.machines()) {}

void SearchState::set(const Placement& placement) {
  placement_ = placement;
  profile_.clear();
  Poll poll;
  for (const int i : by_start()) {
    profile_.take(placement_.start[i], placement_.end[i], {placement_.procs[i]});
    poll.count(50 + placement_.jobs());
  }
}

// By value: the counts may be those of placement_.
void SearchState::decode(const std::vector<int>& order, Allotment procs) {
  Poll poll;
  std::int64_t before = profile_.operations();
  profile_.put_in_order(
      order, [&](int i) { return instance_->release(i); },
      [&](int i) {
        return std::pair(Need{instance_->used(i, procs[i])}, instance_->time(i, procs[i]));
      },
      [&](int i, double start) {
        place(*instance_, placement_, i, procs[i], start);
        poll.count(profile_.operations() - std::exchange(before, profile_.operations()) + 50);
      });
  operations_ += 10 * static_cast<std::int64_t>(order.size());
}

void SearchState::remove(int job) {
  profile_.give(placement_.start[job], placement_.end[job], {placement_.procs[job]});
}

void SearchState::insert(int job, int procs) {
  restore(job, procs,
          profile_.earliest({procs}, instance_->time(job, procs), instance_->release(job)));
}

double SearchState::end_at(int job, int procs) {
  const double length = instance_->time(job, procs);
  return profile_.earliest({procs}, length, instance_->release(job)) + length;
}

void SearchState::restore(int job, int procs, double start) {
  place(*instance_, placement_, job, procs, start);
  profile_.take(start, placement_.end[job], {placement_.procs[job]});
  operations_ += 10;
}

double SearchState::value() const {
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
