// The loads alone: LP* without its paths.
#pragma once

#include <vector>

#include "cosched/core/times.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// max over q of the loads only: the area bound, and its weights.
struct AreaOptimum {
  double value = 0;
  std::vector<double> weights;  // Q, sum 1
  Table x;
};
AreaOptimum balance_loads(const Instance& instance);

}  // namespace cosched::dags::hlp
