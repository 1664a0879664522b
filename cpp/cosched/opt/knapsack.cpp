#include "cosched/opt/knapsack.hpp"

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {
namespace {

struct CoreItem {
  double profit;
  int size, number;
};

// By profit / size, greatest first; ties to the lowest number.
bool is_denser(const CoreItem& a, const CoreItem& b) {
  const double cross_a = a.profit * b.size, cross_b = b.profit * a.size;
  return cross_a != cross_b ? cross_a > cross_b : a.number < b.number;
}

// The items that some optimal solution is made of: at most capacity / size of each size.
std::vector<CoreItem> useful_items(const std::vector<double>& profit, const std::vector<int>& size,
                                   int capacity) {
  std::vector<CoreItem> items;
  for (std::size_t k = 0; k < size.size(); ++k)
    if (profit[k] > 0 && size[k] <= capacity)
      items.push_back({profit[k], size[k], static_cast<int>(k)});
  std::sort(items.begin(), items.end(), [](const CoreItem& a, const CoreItem& b) {
    if (a.size != b.size) return a.size < b.size;
    return a.profit != b.profit ? a.profit > b.profit : a.number < b.number;
  });
  std::vector<CoreItem> useful;
  int count_of_size = 0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    count_of_size = k > 0 && items[k].size == items[k - 1].size ? count_of_size + 1 : 1;
    if (count_of_size <= capacity / items[k].size) useful.push_back(items[k]);
  }
  return useful;
}

// Chosen members of `items` for the capacity, by dynamic programming.  After item k only
// capacities from which the later items can still reach `capacity` matter.
std::vector<int> solve_core(const std::vector<CoreItem>& items, int capacity) {
  const std::size_t words = static_cast<std::size_t>(capacity) / 64 + 1;
  std::vector<std::uint64_t> is_taken(items.size() * words, 0);
  std::vector<double> best(capacity + 1, 0), next(capacity + 1, 0);
  std::int64_t later = 0;
  for (const CoreItem& item : items) later += item.size;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto [p, s, number] = items[k];
    later -= s;
    const int least = static_cast<int>(std::max<std::int64_t>(0, capacity - later));
    const int from = std::min(std::max(least, s), capacity + 1);
    std::copy(best.begin() + least, best.begin() + from, next.begin() + least);
    for (int c = from; c <= capacity; ++c) next[c] = std::max(best[c], best[c - s] + p);
    std::uint64_t* bits = &is_taken[k * words];
    for (int c = from; c <= capacity; ++c)
      bits[c >> 6] |= static_cast<std::uint64_t>(next[c] > best[c]) << (c & 63);
    best.swap(next);
    check_interrupt();
  }
  std::vector<int> chosen;
  int c = capacity;
  for (std::size_t k = items.size(); k-- > 0;)
    if (is_taken[k * words + (c >> 6)] >> (c & 63) & 1) {
      chosen.push_back(items[k].number);
      c -= items[k].size;
    }
  return chosen;
}

// Greedy solution in order of density, and the relaxation's bound with its multiplier.
struct GreedySolution {
  std::vector<char> is_chosen;
  double value = 0;
  double bound = 0;       // of the linear relaxation
  double multiplier = 0;  // profit / size of the item that breaks
  std::size_t break_at;   // its place: the items before it all fit
};

GreedySolution solve_greedily(const std::vector<CoreItem>& items, int capacity) {
  GreedySolution solution;
  solution.is_chosen.assign(items.size(), 0);
  solution.break_at = items.size();
  int remaining_capacity = capacity;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (items[k].size <= remaining_capacity) {
      solution.is_chosen[k] = 1;
      solution.value += items[k].profit;
      remaining_capacity -= items[k].size;
    } else if (solution.break_at == items.size()) {
      solution.break_at = k;
      solution.multiplier = items[k].profit / items[k].size;
      solution.bound = solution.value + remaining_capacity * solution.multiplier;
    }
  }
  if (solution.break_at == items.size()) solution.bound = solution.value;
  return solution;
}

}  // namespace

std::vector<int> knapsack(const std::vector<double>& profit, const std::vector<int>& size,
                          int capacity) {
  COSCHED_ASSERT(profit.size() == size.size());
  COSCHED_ASSERT(std::all_of(size.begin(), size.end(), [](int items) { return items >= 1; }));
  std::vector<CoreItem> items = useful_items(profit, size, capacity);
  std::sort(items.begin(), items.end(), is_denser);
  const GreedySolution greedy_solution = solve_greedily(items, capacity);
  // The items before the break are in the relaxation, those after it are not.  Changing item k
  // costs |profit - multiplier size| of the bound: beyond the slack, no better solution does.
  const double slack = greedy_solution.bound - greedy_solution.value;
  std::vector<int> chosen;
  std::vector<CoreItem> core;
  int core_capacity = capacity;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const double reduced_profit = items[k].profit - greedy_solution.multiplier * items[k].size;
    const bool is_before_break = k < greedy_solution.break_at;
    if ((is_before_break ? reduced_profit : -reduced_profit) < slack) {
      core.push_back(items[k]);
    } else if (is_before_break) {
      chosen.push_back(items[k].number);
      core_capacity -= items[k].size;
    }
  }
  const std::vector<int> core_chosen = solve_core(core, core_capacity);
  chosen.insert(chosen.end(), core_chosen.begin(), core_chosen.end());
  double value = 0;
  for (const int k : chosen) value += profit[k];
  if (value < greedy_solution.value) {  // nothing is better than the greedy solution
    chosen.clear();
    for (std::size_t k = 0; k < items.size(); ++k)
      if (greedy_solution.is_chosen[k]) chosen.push_back(items[k].number);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace cosched::opt
