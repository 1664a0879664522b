// A combination of rows that hold for every schedule of at most T, and what it says of the pairs
// (task, type) that are still open.
#pragma once

#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/open_types.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

/// Prices a pair: the sum over rows of price x coefficient of x_jq.
class Combination {
 public:
  Combination(const TimeWindows& windows, const RefutationStage& stage);

  /// By how much even the cheapest types break the combined row, less `slack` relative to its
  /// right side: T is refuted where this is > 0.
  double excess(double slack) const { return excess_ - slack * right_; }
  /// Open pairs of undecided tasks with which a schedule would break it.
  std::vector<Pair> broken_pairs(double slack) const;

 private:
  double price(int task, int type) const;

  const TimeWindows& windows_;
  const RefutationStage& stage_;
  std::vector<double> flow_;                                   // through each task
  std::vector<std::vector<const PricedInterval*>> intervals_;  // of each type
  std::vector<double> cheapest_;
  double excess_ = 0, right_ = 0;
};

}  // namespace cosched::dags::proof
