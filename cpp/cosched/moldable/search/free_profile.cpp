#include "cosched/moldable/search/free_profile.hpp"

#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {

void FreeProfile::clear() {
  times_.assign(1, 0.0);
  free_procs_.assign(1, machines_);
  free_shares_.assign(resources_, 1.0);
}

bool FreeProfile::has_resources_for(std::size_t k, const JobNeed& need) const {
  const double* free_shares = &free_shares_[k * resources_];
  for (int r = 0; r < resources_; ++r)
    if (need.shares[r] > free_shares[r] + kExactTolerance) return false;
  return true;
}

double FreeProfile::earliest_start(const JobNeed& need, double length, double from) {
  const std::size_t size = times_.size();
  const auto has_room_from = [&, free_procs = free_procs_.data(), procs = need.procs,
                              has_no_resources = resources_ == 0](std::size_t k) {
    return free_procs[k] >= procs && (has_no_resources || has_resources_for(k, need));
  };
  std::size_t k = 0;  // the last breakpoint that is not after `from`
  if (from > 0) k = std::upper_bound(times_.begin(), times_.end(), from) - times_.begin() - 1;
  const std::size_t first = k;
  for (;;) {
    while (!has_room_from(k)) ++k;  // from the last breakpoint on everything is free
    const double start = std::max(from, times_[k]), end = start + length;
    std::size_t next = k + 1;
    while (next < size && times_[next] < end && has_room_from(next)) ++next;
    if (next == size || times_[next] >= end) {
      operations_ += static_cast<std::int64_t>(next - first);
      return start;
    }
    k = next;
  }
}

// Returns the index of the breakpoint at `time`, which is inserted if there is none.
std::size_t FreeProfile::insert_breakpoint(double time) {
  const auto position = std::lower_bound(times_.begin(), times_.end(), time);
  const auto k = static_cast<std::size_t>(position - times_.begin());
  if (position != times_.end() && *position == time) return k;
  times_.insert(position, time);
  free_procs_.insert(free_procs_.begin() + static_cast<std::ptrdiff_t>(k), free_procs_[k - 1]);
  if (resources_ == 0) return k;
  free_shares_.insert(free_shares_.begin() + static_cast<std::ptrdiff_t>(k * resources_),
                      resources_, 0.0);
  std::copy_n(&free_shares_[(k - 1) * resources_], resources_, &free_shares_[k * resources_]);
  return k;
}

void FreeProfile::change_usage(double start, double end, const JobNeed& need, int sign) {
  // A start may be so late that adding the length does not change it.
  if (!(start < end)) return;
  const std::size_t first = insert_breakpoint(start), last = insert_breakpoint(end);
  const int procs = sign * need.procs;
  for (std::size_t k = first; k < last; ++k) free_procs_[k] += procs;
  if (resources_ > 0)
    for (std::size_t k = first * resources_; k < last * resources_; ++k)
      free_shares_[k] += sign * need.shares[k % resources_];
  operations_ += static_cast<std::int64_t>(last - first) + 4;
  // Breakpoints where nothing changes any more are erased.
  for (const std::size_t k : {last, first}) {
    if (k == 0 || free_procs_[k] != free_procs_[k - 1]) continue;
    const auto shares = free_shares_.begin() + static_cast<std::ptrdiff_t>(k * resources_);
    if (resources_ > 0 && !std::equal(shares - resources_, shares, shares)) continue;
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(k));
    free_procs_.erase(free_procs_.begin() + static_cast<std::ptrdiff_t>(k));
    if (resources_ > 0) free_shares_.erase(shares, shares + resources_);
  }
}

}  // namespace cosched::moldable::search
