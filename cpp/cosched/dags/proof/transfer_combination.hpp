// A combination of rows that hold for every schedule of at most T with transfers, and the types and
// placements that it excludes.
#pragma once

#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

/// The rows of a stage, weighted with its prices, as one row over the open types and placements.
class TransferCombination {
 public:
  TransferCombination(const TransferWindows& windows, const TransferStage& stage);

  /// By how much the combined row is violated even with the cheapest types and placements, beyond
  /// `tolerance` relative to its right side.  T is refuted where this is > 0.
  double excess(double tolerance) const {
    return left_side_ - right_side_ * (1 + tolerance) - rounding_error_;
  }
  /// Left side over right side, rounded down by its rounding errors; 0 where either is not
  /// positive.
  double ratio() const {
    return right_side_ > 0 ? std::max(0.0, left_side_ - rounding_error_) / right_side_ : 0;
  }

  /// Open types of undecided tasks with which no schedule of at most T satisfies the row.
  std::vector<TaskOnType> violating_types(double tolerance) const;

  /// Open placements with which no schedule of at most T satisfies the row.
  std::vector<EdgePlacement> violating_placements(double tolerance) const;

 private:
  static constexpr double kRounding = 1e-11;  // relative to the shifts

  double& price(int task, int type) {
    return price_[static_cast<std::size_t>(task) * types_ + type];
  }
  double extra_price(int task, int type) const {
    return price_[static_cast<std::size_t>(task) * types_ + type] - cheapest_[task];
  }

  double remaining_price(int edge, int q, double cost) const;
  double placement_excess(EdgePlacement target) const;
  void add_tasks();
  void add_edges();

  const TransferWindows& windows_;
  const TransferStage& stage_;
  int types_;
  std::vector<double> price_;  // of each task on each type
  std::vector<double>
      second_task_price_;         // (e, Q): part of an edge in the price of its second task
  std::vector<double> cheapest_;  // of each task: least price of its open types
  double left_side_ = 0, right_side_ = 0, rounding_error_ = 0;
};

}  // namespace cosched::dags::proof
