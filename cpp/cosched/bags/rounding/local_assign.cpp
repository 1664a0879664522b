#include "cosched/bags/rounding/local_assign.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"

namespace cosched::bags::rounding {

double water_level(const std::vector<double>& loads, double work) {
  std::vector<double> below = loads;  // S
  for (;;) {
    const double sum = std::accumulate(below.begin(), below.end(), 0.0);
    const double level = (sum + work) / static_cast<double>(below.size());
    const auto end =
        std::remove_if(below.begin(), below.end(), [&](double load) { return load >= level; });
    // Dropping a load >= level lowers the level; where all of S is at it, it is the level.
    if (end == below.end() || end == below.begin()) return level;
    below.erase(end, below.end());
  }
}

std::vector<std::int64_t> spread(std::vector<double>& loads, std::int64_t count, double length) {
  check_interrupt();
  const double level = water_level(loads, static_cast<double>(count) * length);
  std::vector<std::int64_t> taken(loads.size(), 0);
  std::int64_t left = count;
  for (std::size_t k = 0; k < loads.size() && left > 0; ++k) {
    // Rounded down by more than the division's rounding error: one task less at once is LPT too.
    const double room = (level - loads[k]) / length;
    const double whole = std::floor(room * (1 - 1e-12) - 1e-9);
    if (whole < 1) continue;
    taken[k] = whole < static_cast<double>(left) ? static_cast<std::int64_t>(whole) : left;
    left -= taken[k];
  }
  const auto end_of = [&](std::size_t k) {
    return loads[k] + static_cast<double>(taken[k]) * length;
  };
  using Slot = std::pair<double, std::size_t>;
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < loads.size(); ++k) slots.emplace_back(end_of(k), k);
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> free(std::greater<>{},
                                                                    std::move(slots));
  Poll poll;
  for (; left > 0; --left) {
    poll.count(50);
    const std::size_t k = free.top().second;
    free.pop();
    ++taken[k];
    free.emplace(end_of(k), k);
  }
  for (std::size_t k = 0; k < loads.size(); ++k) loads[k] = end_of(k);
  return taken;
}

std::vector<int> longest_first(const Instance& instance, int j) {
  std::vector<int> order(instance.types());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return instance.etc(a, j) > instance.etc(b, j); });
  return order;
}

}  // namespace cosched::bags::rounding
