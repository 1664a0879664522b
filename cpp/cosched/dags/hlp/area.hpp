// The loads alone: LP* without its paths.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// The least maximal load over fractional allocations, paths ignored: at most LP*.
/// O(n log n) for two types.
double area_bound(const Instance& instance);

// The loads alone: LP* without its paths.

/// The least greatest load over fractional allocations, with the weights that prove it.
struct AreaOptimum {
  double value = 0;
  std::vector<double> weights;  ///< of the Q loads, sum 1
  Table x;
};
AreaOptimum balance_loads(const Instance& instance);

}  // namespace cosched::dags::hlp
