// A few consecutive layers of a large graph as a model of the whole.
#pragma once

#include <vector>

#include "cosched/dags/hlp/trade_off.hpp"

namespace cosched::dags::hlp {

/// Loads and paths of the slice, times the share of the tasks that it has, are about those of the whole;
/// what is known of the whole corrects them.  Only where to ask next depends on it, no bound.
class SliceModel final : public opt::Guide {
 public:
  explicit SliceModel(const Instance& whole);

  void correct(const std::vector<double>& weights, const std::vector<double>& measures) override;

  std::vector<double> best_weights(const std::vector<std::vector<double>>& columns,
                                   std::vector<double> start, double gap) override;

 private:
  const std::vector<double>& ask(const std::vector<double>& weights);
  std::vector<double> corrected(std::vector<double> measures) const;

  Instance slice_;
  TradeOff trade_off_;
  double scale_;
  std::vector<std::vector<double>> measures_;  // of the slice's allocations so far, scaled
  std::vector<double> shift_;
};

}  // namespace cosched::dags::hlp
