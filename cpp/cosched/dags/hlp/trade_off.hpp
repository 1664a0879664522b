// The inner problem of the structured HLP method: for weights pi on the loads of the Q types
// and on the longest path, minimise over fractional allocations x
//   sum_q pi_q (1/m_q) sum_j p_jq x_jq + pi_path L(x),   L(x) = longest path:
// a time-cost trade-off (opt/time_cost.hpp) with an option a type.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/opt/outer_problem.hpp"
#include "cosched/opt/time_cost.hpp"

namespace cosched::dags::hlp {

using opt::Relaxed;  // measures: loads sum_j p_jq x_jq / m_q of each type, longest path

/// Duration sum_q p_jq x_jq of each task (0 times infinity is 0).
std::vector<double> fractional_durations(const Instance& instance, const Table& x);

/// Loads sum_j p_jq x_jq / m_q.
std::vector<double> fractional_loads(const Instance& instance, const Table& x);

class TradeOff final : public opt::Relaxation {
 public:
  explicit TradeOff(const Instance& instance)
      : instance_(instance),
        flow_(instance.graph(), instance.times()),
        cost_(instance.tasks(), instance.types()) {}

  /// Weights >= 0 (Q loads, then the path); they need not sum to 1.
  Optimum minimise(const std::vector<double>& weights) override;
  std::vector<double> task_flow() const override { return flow_.task_flow(); }
  std::vector<double> link_flow() const override { return flow_.link_flow(); }

  const opt::EventNetwork& network() const { return flow_.network(); }

 private:
  const Instance& instance_;
  opt::TimeCost flow_;
  Table cost_;
};

// A few consecutive layers of a large graph as a model of the whole.

/// Loads and paths of the slice, times the share of the tasks that it has, are about those of the
/// whole; what is known of the whole corrects them.  Only where to ask next depends on it, no
/// bound.
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
