// An upper bound on the profit rate that knows that tasks are indivisible on each machine.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/model/instance.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

/// Branch and bound over the makespan.  For all plans with low <= makespan <= high the dynamic energy is
/// at least D(high), so their profit rate is at most (p - c D)/low - c I (by high, where p < c D).  D is first the
/// front's, then the Lagrangian dual of the relaxation over patterns at the values v that column
/// generation ends with: sum_i T_i v_i - sum_j M_j most_gain(j, high, v), a bound for any v.
class RateBound {
 public:
  /// Requires p > c E_min and the front with Cut::long_tasks, which must outlive this.
  RateBound(const Instance& instance, const std::vector<energy::FrontPoint>& front);

  /// No plan earns more.
  double top() const;
  /// One step where the bound is weakest: an interval is priced, or halved.  False: intervals are so
  /// narrow that nothing more is gained, or top() <= floor.  One column generation at most.
  bool tighten(double floor);
  /// A makespan drawn from where a plan may earn more than `floor`; nothing where none can.
  std::optional<double> open_makespan(double floor, Rng& rng) const;

 private:
  struct Interval {
    double low, high;  // makespans
    double joules;     // at least, of plans within `high`
    double top;        // no plan with such a makespan earns more
    bool priced;
    std::vector<double> value;  // of a task of each type, from the pricing at or above `high`
  };
  double rate(double joules, double low, double high) const;
  double joules_within(double makespan, const std::vector<double>& value) const;
  void price(Interval& interval);
  void halve(std::size_t at);

  const Instance* instance_;
  const std::vector<energy::FrontPoint>* front_;
  std::vector<Interval> intervals_;
  double beyond_;  // no plan with a makespan above all intervals earns more
};

}  // namespace cosched::bags::search
