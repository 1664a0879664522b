// A few consecutive layers of a large graph as a model of the whole.
#pragma once

#include "cosched/dags/hlp/trade_off.hpp"

namespace cosched::dags::hlp {

struct SliceModelParams {
  /// The slice has at least this part of the tasks: one in so many.
  int slice_divisor = 8;
  /// Queries of the slice for the best weights.
  int rounds = 40;
  /// The next weights are this share of the way from the best weights to the prices of the game: a
  /// far jump costs many pivots.  The first one while the relative gap is above `far_gap`.
  double far_share = 0.3, near_share = 0.6;
  double far_gap = 0.01;
};

/// A surrogate of the whole graph: the loads and the longest path of the slice, scaled by the
/// number of tasks, are about those of the whole, and measures of the whole correct them.  It
/// decides where to query next; no bound depends on it.
class SliceModel final : public opt::SurrogateModel {
 public:
  explicit SliceModel(const Instance& graph_instance, const SliceModelParams& params = {});

  void correct(const std::vector<double>& weights, const std::vector<double>& measures) override;

  std::vector<double> best_weights(const std::vector<std::vector<double>>& columns,
                                   std::vector<double> start, double gap) override;

 private:
  const std::vector<double>& evaluate_slice(const std::vector<double>& weights);
  std::vector<double> with_shift(std::vector<double> measures) const;

  SliceModelParams params_;
  Instance slice_;
  TradeOff trade_off_;
  double scale_;
  std::vector<std::vector<double>> measures_;  // of the slice's allocations so far, scaled
  std::vector<double> measured_shift_;
};

}  // namespace cosched::dags::hlp
