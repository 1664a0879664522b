#include "cosched/moldable/search/free_profile.hpp"

#include <algorithm>
#include <iterator>

namespace cosched::moldable::search {

void FreeProfile::clear() {
  time_.assign(1, 0.0);
  free_.assign(1, machines_);
}

double FreeProfile::earliest(int procs, double length, double from) const {
  const std::size_t size = time_.size();
  std::size_t k =
      from <= 0 ? 0 : std::upper_bound(time_.begin(), time_.end(), from) - time_.begin() - 1;
  const std::size_t first = k;
  for (;;) {
    while (free_[k] < procs) ++k;  // the last one is all free
    const double start = std::max(from, time_[k]), end = start + length;
    std::size_t next = k + 1;
    while (next < size && time_[next] < end && free_[next] >= procs) ++next;
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
  return k;
}

void FreeProfile::change(double start, double end, int procs) {
  if (!(start < end)) return;  // a start so late that adding the time does not change it
  const std::size_t first = cut(start), last = cut(end);
  for (std::size_t k = first; k < last; ++k) free_[k] += procs;
  operations_ += static_cast<std::int64_t>(last - first) + 4;
  // Breakpoints where nothing changes any more go.
  for (const std::size_t k : {last, first}) {
    if (k == 0 || free_[k] != free_[k - 1]) continue;
    time_.erase(time_.begin() + static_cast<std::ptrdiff_t>(k));
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

}  // namespace cosched::moldable::search
