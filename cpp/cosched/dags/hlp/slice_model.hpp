// A few consecutive layers of a large graph as a model of the whole.
#pragma once

#include "cosched/dags/hlp/trade_off.hpp"

namespace cosched::dags::hlp {

/// A surrogate of the whole graph: the loads and the longest path of the slice, scaled by the
/// number of tasks, are about those of the whole, and measures of the whole correct them.  It
/// decides where to query next; no bound depends on it.
class SliceModel final : public opt::SurrogateModel {
 public:
  explicit SliceModel(const Instance& graph_instance);

  void correct(const std::vector<double>& weights, const std::vector<double>& measures) override;

  std::vector<double> best_weights(const std::vector<std::vector<double>>& columns,
                                   std::vector<double> start, double gap) override;

 private:
  const std::vector<double>& evaluate_slice(const std::vector<double>& weights);
  std::vector<double> with_shift(std::vector<double> measures) const;

  Instance slice_;
  TradeOff trade_off_;
  double scale_;
  std::vector<std::vector<double>> measures_;  // of the slice's allocations so far, scaled
  std::vector<double> measured_shift_;
};

}  // namespace cosched::dags::hlp
