// Prices of the rows of a master programme.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cosched/packs/columns/restrictions.hpp"

namespace cosched::packs::columns {

/// Dual values: >= 0 for tasks and "at least" rows, <= 0 for "at most" rows.
struct Prices {
  std::vector<double> task;
  std::vector<double> count;
};

/// What a length is worth through the count rows: sum of the prices of those with row.length <= D.
class CountPrices {
 public:
  CountPrices(const std::vector<CountRow>& rows, const std::vector<double>& prices);

  double operator()(double length) const;

 private:
  std::vector<std::pair<double, double>> total_;  // (length, sum of prices up to it), sorted
};

}  // namespace cosched::packs::columns
