#include "cosched/opt/knapsack.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

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

struct Item {
  double profit;
  int size, number;
};

// By profit / size, greatest first; ties to the lowest number.
bool denser(const Item& a, const Item& b) {
  const double left = a.profit * b.size, right = b.profit * a.size;
  return left != right ? left > right : a.number < b.number;
}

// The items that some optimal solution is made of: at most capacity / size of each size.
std::vector<Item> candidates(const std::vector<double>& profit, const std::vector<int>& size,
                             int capacity) {
  std::vector<Item> items;
  for (std::size_t k = 0; k < size.size(); ++k)
    if (profit[k] > 0 && size[k] <= capacity)
      items.push_back({profit[k], size[k], static_cast<int>(k)});
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    if (a.size != b.size) return a.size < b.size;
    return a.profit != b.profit ? a.profit > b.profit : a.number < b.number;
  });
  std::vector<Item> kept;
  int of_size = 0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    of_size = k > 0 && items[k].size == items[k - 1].size ? of_size + 1 : 1;
    if (of_size <= capacity / items[k].size) kept.push_back(items[k]);
  }
  return kept;
}

// Chosen members of `items` for the capacity, by dynamic programming.  After item k only
// capacities from which the later items can still reach `capacity` matter.
std::vector<int> solve_core(const std::vector<Item>& items, int capacity) {
  const std::size_t words = static_cast<std::size_t>(capacity) / 64 + 1;
  std::vector<std::uint64_t> taken(items.size() * words, 0);
  std::vector<double> best(capacity + 1, 0), next(capacity + 1, 0);
  std::int64_t later = 0;
  for (const Item& item : items) later += item.size;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto [p, s, number] = items[k];
    later -= s;
    const int least = static_cast<int>(std::max<std::int64_t>(0, capacity - later));
    const int from = std::min(std::max(least, s), capacity + 1);
    std::copy(best.begin() + least, best.begin() + from, next.begin() + least);
    for (int c = from; c <= capacity; ++c) next[c] = std::max(best[c], best[c - s] + p);
    std::uint64_t* bits = &taken[k * words];
    for (int c = from; c <= capacity; ++c)
      bits[c >> 6] |= static_cast<std::uint64_t>(next[c] > best[c]) << (c & 63);
    best.swap(next);
    check_interrupt();
  }
  std::vector<int> chosen;
  int c = capacity;
  for (std::size_t k = items.size(); k-- > 0;)
    if (taken[k * words + (c >> 6)] >> (c & 63) & 1) {
      chosen.push_back(items[k].number);
      c -= items[k].size;
    }
  return chosen;
}

// Greedy solution in order of density, and the relaxation's bound with its multiplier.
struct Greedy {
  std::vector<char> in;
  double value = 0;
  double bound = 0;       // of the linear relaxation
  double multiplier = 0;  // profit / size of the item that breaks
  std::size_t break_at;   // its place: the items before it all fit
};

Greedy greedy(const std::vector<Item>& items, int capacity) {
  Greedy found;
  found.in.assign(items.size(), 0);
  found.break_at = items.size();
  int left = capacity;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (items[k].size <= left) {
      found.in[k] = 1;
      found.value += items[k].profit;
      left -= items[k].size;
    } else if (found.break_at == items.size()) {
      found.break_at = k;
      found.multiplier = items[k].profit / items[k].size;
      found.bound = found.value + left * found.multiplier;
    }
  }
  if (found.break_at == items.size()) found.bound = found.value;
  return found;
}

}  // namespace

double CardinalityKnapsack::solve(const std::vector<KnapsackItem>& items, int capacity, int limit,
                                  double worth) {
  const double relaxed = without_limit(items, capacity, 0);
  chosen_.clear();
  if (relaxed <= worth) return relaxed;
  trace_without_limit(items, capacity);
  if (static_cast<int>(chosen_.size()) <= limit) return relaxed;
  const auto cells = static_cast<std::int64_t>(items.size() + 1) * (limit + 1) * (capacity + 1);
  if (cells > kMostCells) return with_multiplier(items, capacity, limit, relaxed);
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

std::vector<int> knapsack(const std::vector<double>& profit, const std::vector<int>& size,
                          int capacity) {
  std::vector<Item> items = candidates(profit, size, capacity);
  std::sort(items.begin(), items.end(), denser);
  const Greedy start = greedy(items, capacity);
  // The items before the break are in the relaxation, those after it are not.  Changing item k
  // costs |profit - multiplier size| of the bound: beyond the slack, no better solution does.
  const double slack = start.bound - start.value;
  std::vector<int> chosen;
  std::vector<Item> core;
  int left = capacity;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const double reduced = items[k].profit - start.multiplier * items[k].size;
    const bool before = k < start.break_at;
    if ((before ? reduced : -reduced) < slack) {
      core.push_back(items[k]);
    } else if (before) {
      chosen.push_back(items[k].number);
      left -= items[k].size;
    }
  }
  const std::vector<int> rest = solve_core(core, left);
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  double value = 0;
  for (const int k : chosen) value += profit[k];
  if (value < start.value) {  // nothing is better than the greedy solution
    chosen.clear();
    for (std::size_t k = 0; k < items.size(); ++k)
      if (start.in[k]) chosen.push_back(items[k].number);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace cosched::opt
