// A combination of rows that hold for every schedule of at most T, and the types that it excludes.
#pragma once

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {
/// The rows of a stage, weighted with their prices, as one row over the open types.
class WindowsCombination {
 public:
  WindowsCombination(const TimeWindows& windows, const RefutationStage& stage);

  /// By how much the combined row is violated even with the cheapest types, beyond `tolerance`
  /// relative to its right side.  T is refuted where this is > 0.
  double excess(double tolerance) const { return left_excess_ - tolerance * right_side_; }
  /// Open types of undecided tasks with which no schedule of at most T satisfies the row.
  std::vector<TaskOnType> violating_types(double tolerance) const;

 private:
  double price(int task, int type) const;

  const TimeWindows& windows_;
  const RefutationStage& stage_;
  std::vector<double> task_flow_;                              // through each task
  std::vector<std::vector<const PricedInterval*>> intervals_;  // of each type
  std::vector<double> least_price_;
  double left_excess_ = 0, right_side_ = 0;
};

}  // namespace cosched::dags::proof
