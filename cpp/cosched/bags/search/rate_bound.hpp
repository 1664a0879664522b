// An upper bound on the profit rate that knows that tasks are indivisible on each machine.
#pragma once

#include <iterator>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/search/patterns.hpp"
#include "cosched/bags/search/relaxed_prices.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

struct RateBoundParams {
  /// Intervals of the makespan at first.
  int first_intervals = 48;
  /// Rounds of column generation for one interval.
  int pricing_rounds = 60;
  /// Intervals narrower than this part of their lower end are not halved.
  double least_width = 1e-6;
};

/// Branch and bound over the makespan.  For all plans with low <= makespan <= high the dynamic
/// energy is at least D(high), so their profit rate is at most (p - c D)/low - c I (by high, where
/// p < c D).  D is first the front's, then the Lagrangian dual of the relaxation over patterns at
/// the values v that column generation ends with: sum_i T_i v_i - sum_j M_j max_gain(j, high, v),
/// a bound for any v.
class RateBound {
 public:
  /// Requires p > c E_min and the front with Cut::long_tasks, which must outlive this.
  RateBound(const Instance& instance, const std::vector<energy::FrontPoint>& front,
            const RateBoundParams& params = {});

  /// No plan earns more.
  double rate_bound() const {
    double bound = rate_beyond_;
    for (const MakespanInterval& interval : intervals_)
      bound = std::max(bound, interval.rate_bound);
    return bound;
  }

  /// Takes one step where the bound is weakest: prices an interval, or halves it.  Returns false
  /// where the intervals are so narrow that nothing more is gained, or rate_bound() <= floor.  One
  /// column generation at most.
  bool tighten(double floor);

  /// Draws a makespan at which a plan may earn more than `floor`; empty where no plan can.
  std::optional<double> draw_open_makespan(double floor, Rng& rng) const;

 private:
  // Relative rounding error of the sums of a Lagrangian dual, generously.
  static constexpr double kRoundingUnit = 1e-9;

  struct MakespanInterval {
    double low, high;   // makespans
    double joules;      // at least, of plans within `high`
    double rate_bound;  // no plan with such a makespan earns more
    bool is_priced;
    std::vector<double> task_values;  // of a task of each type, from the pricing at or above `high`
  };

  double max_rate(double joules, double low, double high) const {
    const bool pays = instance_->price() > instance_->energy_cost() * joules;
    return instance_->profit_rate(joules, pays ? low : high);
  }

  double joules_bound(double makespan, const std::vector<double>& value) const;

  void price_interval(MakespanInterval& interval);

  void halve_interval(std::size_t index);

  RateBoundParams params_;
  const Instance* instance_;
  const std::vector<energy::FrontPoint>* front_;
  std::vector<MakespanInterval> intervals_;
  double rate_beyond_;  // no plan with a makespan above all intervals earns more
};

}  // namespace cosched::bags::search
