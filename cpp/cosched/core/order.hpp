// Numbers in an order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace cosched {

/// 0..count-1, sorted: before(a, b) says that a comes first.  What it does not part stays in the
/// order of the numbers.  O(count log count).
template <class Before>
std::vector<int> sorted_numbers(std::size_t count, const Before& before) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace cosched
