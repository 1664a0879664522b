#include "cosched/moldable/graph/timeline.hpp"

#include <algorithm>

namespace cosched::moldable::graph {

void Timeline::clear() {
  time_.assign(1, 0.0);
  free_.assign(measures_, 1.0);
  free_[0] = machines_;
}

bool Timeline::fits(std::size_t step, const Choice& choice) const {
  const double* free = &free_[step * measures_];
  if (choice.procs > free[0]) return false;
  for (int r = 1; r < measures_; ++r)
    if (choice.share[r] > free[r] + kExactTolerance) return false;
  return true;
}

double Timeline::earliest(const Choice& choice, double from) const {
  std::size_t step = std::upper_bound(time_.begin(), time_.end(), from) - time_.begin() - 1;
  double start = from;
  const std::size_t begun = step;
  for (; step < time_.size() && time_[step] < start + choice.time; ++step)
    if (!fits(step, choice)) start = step + 1 < time_.size() ? time_[step + 1] : time_[step];
  operations_ += static_cast<std::int64_t>(step - begun) + 1;
  return start;
}

// The step that begins at a moment.
std::size_t Timeline::cut(double at) {
  const std::size_t step = std::lower_bound(time_.begin(), time_.end(), at) - time_.begin();
  if (step < time_.size() && time_[step] == at) return step;
  time_.insert(time_.begin() + static_cast<std::ptrdiff_t>(step), at);
  std::vector<double> same(&free_[(step - 1) * measures_],
                           &free_[(step - 1) * measures_] + measures_);
  free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(step * measures_), same.begin(),
               same.end());
  return step;
}

void Timeline::take(const Choice& choice, double start) {
  const std::size_t first = cut(start), last = cut(start + choice.time);
  for (std::size_t step = first; step < last; ++step) {
    free_[step * measures_] -= choice.procs;
    for (int r = 1; r < measures_; ++r) free_[step * measures_ + r] -= choice.share[r];
  }
  operations_ += static_cast<std::int64_t>(last - first) + 2;
}

}  // namespace cosched::moldable::graph
