#include "cosched/cluster/profile.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster {

Profile::Profile(std::vector<int> free)
    : cells_(free.size()), all_(std::move(free)), time_{0}, free_(all_) {}

void Profile::reset(double now) {
  time_.assign(1, now);
  most_.clear();
  free_ = all_;
}

void Profile::advance(double now) {
  const std::size_t gone = step_at(now);
  if (gone == 0) return;
  most_.clear();
  time_.erase(time_.begin(), time_.begin() + static_cast<std::ptrdiff_t>(gone));
  free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(gone * cells_));
}

double Profile::room(double now, int tasks) {
  if (most_.empty()) {
    int most = 0;
    for (std::size_t k = 0; k < time_.size(); ++k) {
      int sum = 0;
      for (std::size_t c = 0; c < cells_; ++c) sum += free_[k * cells_ + c];
      most_.push_back(most = std::max(most, sum));
    }
  }
  const auto found = std::lower_bound(most_.begin(), most_.end(), tasks) - most_.begin();
  return std::max(now, time_[std::min(static_cast<std::size_t>(found), time_.size() - 1)]);
}

std::size_t Profile::step_at(double time) const {
  const auto after = std::upper_bound(time_.begin(), time_.end(), time);
  return after == time_.begin() ? 0 : static_cast<std::size_t>(after - time_.begin()) - 1;
}

std::size_t Profile::border_at(double time) {
  const std::size_t step = step_at(time);
  if (time_[step] >= time) return step;
  const auto next = static_cast<std::ptrdiff_t>(step + 1);
  const std::vector<int> copy(free_.begin() + static_cast<std::ptrdiff_t>(step * cells_),
                              free_.begin() + static_cast<std::ptrdiff_t>((step + 1) * cells_));
  time_.insert(time_.begin() + next, time);
  free_.insert(free_.begin() + next * static_cast<std::ptrdiff_t>(cells_), copy.begin(),
               copy.end());
  return step + 1;
}

bool Profile::same_as_before(std::size_t step) const {
  const auto here = free_.begin() + static_cast<std::ptrdiff_t>(step * cells_);
  return std::equal(here, here + static_cast<std::ptrdiff_t>(cells_),
                    here - static_cast<std::ptrdiff_t>(cells_));
}

void Profile::merge(std::size_t step) {
  if (step == 0 || step >= time_.size() || !same_as_before(step)) return;
  time_.erase(time_.begin() + static_cast<std::ptrdiff_t>(step));
  const auto here = free_.begin() + static_cast<std::ptrdiff_t>(step * cells_);
  free_.erase(here, here + static_cast<std::ptrdiff_t>(cells_));
}

void Profile::change(double begin, double end, const Share& share, int sign) {
  begin = std::max(begin, time_.front());
  if (!(begin < end)) return;
  most_.clear();
  const std::size_t first = border_at(begin);
  const std::size_t last = border_at(end);
  for (std::size_t k = first; k < last; ++k)
    for (std::size_t c = 0; c < cells_; ++c) free_[k * cells_ + c] += sign * share[c];
  merge(last);
  merge(first);
}

Profile::Slot Profile::earliest(double now, int tasks, double length, std::uint64_t allowed) const {
  const std::size_t steps = time_.size();
  Share least(cells_);
  for (std::size_t at = step_at(now);; ++at) {
    const double start = std::max(now, time_[at]);
    for (std::size_t c = 0; c < cells_; ++c)
      least[c] = allowed >> c & 1 ? free_[at * cells_ + c] : 0;
    std::size_t k = at;
    for (;;) {
      int sum = 0;
      for (std::size_t c = 0; c < cells_; ++c) sum += std::max(least[c], 0);
      if (sum < tasks) break;
      if (++k == steps || time_[k] >= start + length) {
        for (std::size_t c = 0; c < cells_; ++c) {
          least[c] = std::min(std::max(least[c], 0), tasks);
          tasks -= least[c];
        }
        return {start, std::move(least)};
      }
      for (std::size_t c = 0; c < cells_; ++c)
        least[c] = std::min(least[c], allowed >> c & 1 ? free_[k * cells_ + c] : 0);
    }
    if (cells_ == 1) at = k;  // no start up to the step that has too few nodes
  }
}

}  // namespace cosched::cluster
