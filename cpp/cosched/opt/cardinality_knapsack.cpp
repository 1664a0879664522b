#include "cosched/opt/cardinality_knapsack.hpp"

#include <algorithm>

namespace cosched::opt {
namespace {

// to[q] = max(from[q], other[q - weight] + value): one item for every capacity q <= capacity.
void add_item(const double* from, const double* other, double* to, int capacity, int weight,
              double value) {
  const int skipped = std::min(weight, capacity + 1);
  std::copy(from, from + skipped, to);
  for (int q = skipped; q <= capacity; ++q) {
    const double with = other[q - weight] + value;
    to[q] = from[q] < with ? with : from[q];
  }
}

}  // namespace

double CardinalityKnapsack::solve(const std::vector<KnapsackItem>& items, int capacity, int limit,
                                  double worth) {
  const double relaxed_value = without_limit(items, capacity, 0);
  chosen_.clear();
  if (relaxed_value <= worth) return relaxed_value;
  trace_without_limit(items, capacity);
  if (static_cast<int>(chosen_.size()) <= limit) return relaxed_value;
  const auto cells = static_cast<std::int64_t>(items.size() + 1) * (limit + 1) * (capacity + 1);
  if (cells > kMaxCells) return with_multiplier(items, capacity, limit, relaxed_value);
  return with_limit(items, capacity, limit);
}

// Layer j of cells_: best value of the first j items for each capacity; every item costs `fee`.
double CardinalityKnapsack::without_limit(const std::vector<KnapsackItem>& items, int capacity,
                                          double fee) {
  const std::size_t width = static_cast<std::size_t>(capacity) + 1;
  cells_.resize(std::max(cells_.size(), (items.size() + 1) * width));
  std::fill(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(width), 0.0);
  for (std::size_t j = 0; j < items.size(); ++j) {
    const double* from = &cells_[j * width];
    add_item(from, from, &cells_[(j + 1) * width], capacity, items[j].weight, items[j].value - fee);
  }
  operations_ += static_cast<std::int64_t>(items.size() * width);
  return cells_[items.size() * width + capacity];
}

void CardinalityKnapsack::trace_without_limit(const std::vector<KnapsackItem>& items,
                                              int capacity) {
  const std::size_t width = static_cast<std::size_t>(capacity) + 1;
  chosen_.clear();
  int q = capacity;
  for (std::size_t j = items.size(); j-- > 0;) {
    if (cells_[(j + 1) * width + q] == cells_[j * width + q]) continue;
    chosen_.push_back(static_cast<int>(j));
    q -= items[j].weight;
  }
  std::reverse(chosen_.begin(), chosen_.end());
}

// Layer j, row c of cells_: best value of at most c of the first j items for each capacity.
double CardinalityKnapsack::with_limit(const std::vector<KnapsackItem>& items, int capacity,
                                       int limit) {
  const std::size_t width = static_cast<std::size_t>(capacity) + 1;
  const std::size_t layer = width * (limit + 1);
  cells_.resize(std::max(cells_.size(), (items.size() + 1) * layer));
  std::fill(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(layer), 0.0);
  for (std::size_t j = 0; j < items.size(); ++j) {
    const double* from = &cells_[j * layer];
    double* to = &cells_[(j + 1) * layer];
    std::copy(from, from + width, to);
    for (int c = 1; c <= limit; ++c)
      add_item(from + c * width, from + (c - 1) * width, to + c * width, capacity, items[j].weight,
               items[j].value);
  }
  operations_ += static_cast<std::int64_t>(items.size() * layer);
  chosen_.clear();
  std::size_t cell = layer - 1;  // within a layer: row `limit`, capacity `capacity`
  for (std::size_t j = items.size(); j-- > 0;) {
    if (cells_[(j + 1) * layer + cell] == cells_[j * layer + cell]) continue;
    chosen_.push_back(static_cast<int>(j));
    cell -= width + static_cast<std::size_t>(items[j].weight);
  }
  std::reverse(chosen_.begin(), chosen_.end());
  return cells_[items.size() * layer + layer - 1];
}

// For every fee f >= 0 an item: f limit + optimum with values less f is an upper bound.  Bisection
// on f; the choice is the best that kept the limit (with the highest fee, none at all).
double CardinalityKnapsack::with_multiplier(const std::vector<KnapsackItem>& items, int capacity,
                                            int limit, double bound) {
  double low = 0, high = 0;
  for (const KnapsackItem& item : items) high = std::max(high, item.value);
  std::vector<int> best;
  for (int step = 0; step < 12; ++step) {
    const double fee = (low + high) / 2;
    bound = std::min(bound, fee * limit + without_limit(items, capacity, fee));
    trace_without_limit(items, capacity);
    if (static_cast<int>(chosen_.size()) > limit) {
      low = fee;
    } else {
      high = fee;
      best = chosen_;
    }
  }
  chosen_ = std::move(best);
  return bound;
}

}  // namespace cosched::opt
