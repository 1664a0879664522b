// A combination of rows that hold for every schedule of at most T with transfers, and what it says of
// the pairs that are still open.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"

namespace cosched::dags::proof {

class TransferCombination {
 public:
  TransferCombination(const TransferWindows& windows, const TransferStage& stage);

  /// By how much even the cheapest types break the combined row, less `slack` relative to its
  /// right side: T is refuted where this is > 0.
  double excess(double slack) const { return left_ - right_ * (1 + slack) - rounding_; }
  /// Left side over right side, with room for rounding; 0 where either is not positive.
  double ratio() const { return right_ > 0 ? std::max(0.0, left_ - rounding_) / right_ : 0; }
  /// Open pairs of undecided tasks, and open ways, with which a schedule would break it.
  std::vector<Pair> broken_pairs(double slack) const;
  std::vector<EdgeWay> broken_ways(double slack) const;

 private:
  double& need(int task, int type) { return need_[static_cast<std::size_t>(task) * types_ + type]; }
  double extra(int task, int type) const {
    return need_[static_cast<std::size_t>(task) * types_ + type] - cheapest_[task];
  }
  double rest(int edge, int q, double cost) const;
  double spare(EdgeWay of) const;
  void add_tasks();
  void add_edges();

  const TransferWindows& windows_;
  const TransferStage& stage_;
  int types_;
  std::vector<double> need_;      // (n, Q)
  std::vector<double> second_;    // (e, Q): an edge's part of the price of its second task
  std::vector<double> cheapest_;  // n
  double left_ = 0, right_ = 0, rounding_ = 0;
};

}  // namespace cosched::dags::proof
