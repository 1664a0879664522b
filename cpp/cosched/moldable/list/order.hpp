// Jobs in the order of a key.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace cosched::moldable::list {

/// Jobs 0..jobs-1 by increasing key(i); ties to the lowest.  O(jobs log jobs).
template <class Key>
std::vector<int> jobs_by(int jobs, const Key& key) {
  std::vector<double> keys(jobs);
  for (int i = 0; i < jobs; ++i) keys[i] = key(i);
  std::vector<int> order(jobs);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace cosched::moldable::list
