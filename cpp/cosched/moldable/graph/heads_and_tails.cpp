#include "cosched/moldable/graph/heads_and_tails.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/graph/precedence.hpp"

namespace cosched::moldable::graph {
namespace {

// Levels at which sums are looked at, at most: all pairs of them are.
constexpr int kMaxLevels = 64;
// Relative gap at which the bisection for a bound ends: a fifth of kExactTolerance, so that the
// bound still proves a schedule of its value optimal.
constexpr double kBisectionGap = 2e-10;

// Levels at which sums are looked at: all values, or `kPairs` of them.
std::vector<double> choose_levels(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kMaxLevels) return values;
  std::vector<double> undominated;
  for (int k = 0; k < kMaxLevels; ++k)
    undominated.push_back(values[k * (values.size() - 1) / (kMaxLevels - 1)]);
  return undominated;
}

// The last level that is not above a value.
int level_index(const std::vector<double>& levels, double value) {
  return static_cast<int>(std::upper_bound(levels.begin(), levels.end(), value) - levels.begin()) -
         1;
}

class HeadTailWindows {
 public:
  explicit HeadTailWindows(const Instance& instance) : instance_(instance) {
    const Precedence graph(instance);
    std::vector<double> least_times;
    for (int i = 0; i < instance_.jobs(); ++i) least_times.push_back(instance_.least_time(i));
    head_ = heads(*graph, least_times, instance_.releases());
    tail_ = bottom_levels(*graph, least_times);
    for (int i = 0; i < instance_.jobs(); ++i) {
      longest_ = std::max(longest_, head_[i] + tail_[i]);
      tail_[i] -= least_times[i];
    }
    head_levels_ = choose_levels(head_);
    tail_levels_ = choose_levels(tail_);
  }

  double longest() const { return longest_; }

  bool has_overfull_window(double makespan) const {
    const int measures = 1 + (instance_.sharing() ? instance_.sharing()->resources() : 0);
    std::vector<double> sum(head_levels_.size() * tail_levels_.size());
    for (int r = 0; r < measures; ++r) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int i = 0; i < instance_.jobs(); ++i) {
        const double amount = least_share(i, r, makespan - head_[i] - tail_[i]);
        if (amount == kInfinity) return true;
        sum[level_index(head_levels_, head_[i]) * tail_levels_.size() +
            level_index(tail_levels_, tail_[i])] += amount;
      }
      if (is_overfull(sum, makespan)) return true;
    }
    return false;
  }

 private:
  // Of the machine's second, in a window; the work of measure 0.
  double least_share(int i, int r, double window) const {
    const double within = window * (1 + kExactTolerance);
    if (r == 0) return instance_.least_area(i, within) / instance_.machines();
    const Sharing& sharing = *instance_.sharing();
    double least_times = kInfinity;
    for (int q = 1; q <= instance_.useful_machines(); ++q)
      if (instance_.exact_time(i, q) <= within)
        least_times =
            std::min(least_times, sharing.need(r - 1, i, q) > 0
                                      ? instance_.exact_time(i, q) * sharing.need(r - 1, i, q) /
                                            sharing.capacity(r - 1)
                                      : 0.0);
    return least_times;
  }

  // Sums over all levels at or above, from the back.
  bool is_overfull(std::vector<double>& sum, double makespan) const {
    const int rows = static_cast<int>(head_levels_.size()),
              columns = static_cast<int>(tail_levels_.size());
    for (int a = rows - 1; a >= 0; --a)
      for (int b = columns - 1; b >= 0; --b) {
        double& cell_sum = sum[a * columns + b];
        if (a + 1 < rows) cell_sum += sum[(a + 1) * columns + b];
        if (b + 1 < columns) cell_sum += sum[a * columns + b + 1];
        if (a + 1 < rows && b + 1 < columns) cell_sum -= sum[(a + 1) * columns + b + 1];
        const double window_length = makespan - head_levels_[a] - tail_levels_[b];
        if (cell_sum >
            std::max(0.0, window_length) * (1 + kExactTolerance) + kExactTolerance * makespan)
          return true;
      }
    return false;
  }

  const Instance& instance_;
  std::vector<double> head_, tail_, head_levels_, tail_levels_;
  double longest_ = 0;
};

}  // namespace

double heads_and_tails(const Instance& instance, double known_bound) {
  const HeadTailWindows windows(instance);
  known_bound = std::max(known_bound, windows.longest());
  if (known_bound <= 0 || !windows.has_overfull_window(known_bound)) return known_bound;
  double high = 2 * known_bound;
  for (; windows.has_overfull_window(high); high *= 2) known_bound = high;
  while (high > known_bound * (1 + kBisectionGap)) {
    check_interrupt();
    const double middle = known_bound + (high - known_bound) / 2;
    if (windows.has_overfull_window(middle))
      known_bound = middle;
    else
      high = middle;
  }
  return known_bound;
}

}  // namespace cosched::moldable::graph
