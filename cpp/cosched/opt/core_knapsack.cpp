#include "cosched/opt/core_knapsack.hpp"

#include <algorithm>
#include <cstdint>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {
namespace {

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
