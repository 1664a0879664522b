// Exact 0-1 knapsack for real profits and integer sizes.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::opt {

/// Items of greatest total profit with total size <= capacity; their numbers, increasing.  Items of
/// profit <= 0 are never chosen.  Requires size >= 1, finite profits.  Exact up to rounding;
/// deterministic.
///
/// Of the items of one size only the capacity / size most profitable can matter.  The bound of
/// Dembo and Hammer (by the multiplier of the linear relaxation) against a greedy solution then
/// decides most other items, and a dynamic programme over the capacity the few that remain, the
/// core. O(n log n + core x capacity) time, core x capacity bits of memory; core <= min(n, capacity
/// ln capacity), and usually a few dozen.
std::vector<int> knapsack(const std::vector<double>& profit, const std::vector<int>& size,
                          int capacity);

}  // namespace cosched::opt
