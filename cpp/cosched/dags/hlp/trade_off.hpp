// The inner problem of the structured HLP method: for weights pi on the loads of the Q types
// and on the longest path, minimise over fractional allocations x
//   sum_q pi_q (1/m_q) sum_j p_jq x_jq + pi_path L(x),   L(x) = longest path:
// a time-cost trade-off (opt/time_cost.hpp) with an option a type.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/opt/outer_problem.hpp"
#include "cosched/opt/time_cost.hpp"

namespace cosched::dags::hlp {

using opt::RelaxedPoint;  // its measures: loads sum_j p_jq x_jq / m_q of each type, longest path

/// Keeps the flow of the last query, from which the next one starts.
class TradeOff final : public opt::WeightedRelaxation {
 public:
  explicit TradeOff(const Instance& instance)
      : instance_(instance),
        flow_(instance.graph(), instance.times()),
        cost_(instance.tasks(), instance.types()) {}

  /// `weights` >= 0 of the Q loads, then of the path; they need not sum to 1.
  RelaxationOptimum minimise(const std::vector<double>& weights) override;
  std::vector<double> task_flow() const override { return flow_.task_flow(); }
  std::vector<double> link_flow() const override { return flow_.link_flow(); }

  const opt::EventNetwork& network() const { return flow_.network(); }

 private:
  const Instance& instance_;
  opt::TimeCost flow_;
  Table cost_;
};

}  // namespace cosched::dags::hlp
