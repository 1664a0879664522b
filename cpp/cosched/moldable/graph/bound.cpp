#include "cosched/moldable/graph/bound.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr int kPairs = 64;
constexpr double kNear = 2e-10;

// Levels at which sums are looked at: all values, or `kPairs` of them.
std::vector<double> levels_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kPairs) return values;
  std::vector<double> kept;
  for (int k = 0; k < kPairs; ++k) kept.push_back(values[k * (values.size() - 1) / (kPairs - 1)]);
  return kept;
}

// The last level that is not above a value.
int level_at(const std::vector<double>& levels, double value) {
  return static_cast<int>(std::upper_bound(levels.begin(), levels.end(), value) - levels.begin()) -
         1;
}

class Windows {
 public:
  explicit Windows(const Instance& instance) : it_(instance) {
    const Precedence graph(instance);
    std::vector<double> least;
    for (int i = 0; i < it_.jobs(); ++i) least.push_back(it_.least_time(i));
    head_ = heads(*graph, least, it_.releases());
    tail_ = bottom_levels(*graph, least);
    for (int i = 0; i < it_.jobs(); ++i) {
      longest_ = std::max(longest_, head_[i] + tail_[i]);
      tail_[i] -= least[i];
    }
    head_levels_ = levels_of(head_);
    tail_levels_ = levels_of(tail_);
  }

  double longest() const { return longest_; }

  bool refutes(double makespan) const {
    const int measures = 1 + (it_.sharing() ? it_.sharing()->resources() : 0);
    std::vector<double> sum(head_levels_.size() * tail_levels_.size());
    for (int r = 0; r < measures; ++r) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int i = 0; i < it_.jobs(); ++i) {
        const double amount = least_amount(i, r, makespan - head_[i] - tail_[i]);
        if (amount == kInfinity) return true;
        sum[level_at(head_levels_, head_[i]) * tail_levels_.size() +
            level_at(tail_levels_, tail_[i])] += amount;
      }
      if (overfull(sum, makespan)) return true;
    }
    return false;
  }

 private:
  // Of the machine's second, in a window; the work of measure 0.
  double least_amount(int i, int r, double window) const {
    const double within = window * (1 + kExactTolerance);
    if (r == 0) return it_.least_area(i, within) / it_.machines();
    const Sharing& sharing = *it_.sharing();
    double least = kInfinity;
    for (int q = 1; q <= it_.useful_machines(); ++q)
      if (it_.given(i, q) <= within)
        least = std::min(least,
                         sharing.need(r - 1, i, q) > 0
                             ? it_.given(i, q) * sharing.need(r - 1, i, q) / sharing.capacity(r - 1)
                             : 0.0);
    return least;
  }

  // Sums over all levels at or above, from the back.
  bool overfull(std::vector<double>& sum, double makespan) const {
    const int rows = static_cast<int>(head_levels_.size()),
              columns = static_cast<int>(tail_levels_.size());
    for (int a = rows - 1; a >= 0; --a)
      for (int b = columns - 1; b >= 0; --b) {
        double& at = sum[a * columns + b];
        if (a + 1 < rows) at += sum[(a + 1) * columns + b];
        if (b + 1 < columns) at += sum[a * columns + b + 1];
        if (a + 1 < rows && b + 1 < columns) at -= sum[(a + 1) * columns + b + 1];
        const double room = makespan - head_levels_[a] - tail_levels_[b];
        if (at > std::max(0.0, room) * (1 + kExactTolerance) + kExactTolerance * makespan)
          return true;
      }
    return false;
  }

  const Instance& it_;
  std::vector<double> head_, tail_, head_levels_, tail_levels_;
  double longest_ = 0;
};

}  // namespace

double heads_and_tails(const Instance& instance, double low) {
  const Windows windows(instance);
  low = std::max(low, windows.longest());
  if (low <= 0 || !windows.refutes(low)) return low;
  double high = 2 * low;
  for (; windows.refutes(high); high *= 2) low = high;
  while (high > low * (1 + kNear)) {
    check_interrupt();
    const double middle = low + (high - low) / 2;
    (windows.refutes(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace cosched::moldable::graph
