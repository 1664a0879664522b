// Orders of jobs by a key.
#pragma once

#include "cosched/core/order.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::list {

/// Jobs 0..jobs-1 by increasing key(i); ties to the lowest.  O(jobs log jobs).
template <class Key>
std::vector<int> order_jobs_by(int jobs, const Key& key) {
  std::vector<double> keys(jobs);
  for (int i = 0; i < jobs; ++i) keys[i] = key(i);
  return sorted_numbers(jobs, [&](int a, int b) { return keys[a] < keys[b]; });
}

/// Jobs by decreasing w_i / min_q q t_i(q): Smith's order of areas.
std::vector<int> order_by_density(const Instance& instance);

/// Jobs by increasing min_q q t_i(q).
std::vector<int> order_by_least_work(const Instance& instance);

}  // namespace cosched::moldable::list
