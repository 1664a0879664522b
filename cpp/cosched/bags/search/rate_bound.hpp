// An upper bound on the profit rate that knows that tasks are indivisible on each machine.
#pragma once

#include <iterator>

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/search/patterns.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

// What the relaxation (6) says at a makespan: where the searches of ttb-best begin.

struct Probe {
  double makespan;
  std::vector<double> price;  // joules a second of each machine type
};

/// Requires falling makespans; those below the least one of the relaxation are left out.
inline std::vector<Probe> probe(const Instance& instance, const std::vector<double>& makespans) {
  std::vector<Probe> probes;
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         while (probes.size() < makespans.size() && makespans[probes.size()] >= low)
                           probes.push_back({makespans[probes.size()], walk.prices()});
                         return probes.size() < makespans.size();
                       });
  return probes;
}

/// What a task of each type is worth at those prices: its least cost in energy and machine time.
inline std::vector<double> task_values(const Instance& instance, const Probe& at) {
  std::vector<double> value(instance.types(), 0);
  for (int i = 0; i < instance.types(); ++i) {
    if (instance.count(i) == 0) continue;
    value[i] = kInfinity;
    for (int j = 0; j < instance.machine_types(); ++j)
      if (instance.etc(i, j) <= at.makespan)
        value[i] = std::min(value[i], instance.joules(i, j) + at.price[j] * instance.etc(i, j));
  }
  return value;
}

/// Branch and bound over the makespan.  For all plans with low <= makespan <= high the dynamic
/// energy is at least D(high), so their profit rate is at most (p - c D)/low - c I (by high, where
/// p < c D).  D is first the front's, then the Lagrangian dual of the relaxation over patterns at
/// the values v that column generation ends with: sum_i T_i v_i - sum_j M_j most_gain(j, high, v),
/// a bound for any v.
class RateBound {
 public:
  /// Requires p > c E_min and the front with Cut::long_tasks, which must outlive this.
  RateBound(const Instance& instance, const std::vector<energy::FrontPoint>& front)
      : instance_(&instance), front_(&front) {
    const double least = front.front().makespan, most = front.back().makespan;
    beyond_ = instance.profit_rate(instance.least_joules(), most);
    std::vector<double> highs;
    for (int k = kIntervals; k > 0; --k)
      highs.push_back(least * std::pow(most / least, static_cast<double>(k) / kIntervals));
    for (const Probe& at : probe(instance, highs)) {
      const double low =
          highs.size() == intervals_.size() + 1 ? least : highs[intervals_.size() + 1];
      const double joules = energy::joules_at(front, at.makespan);
      intervals_.push_back({low, at.makespan, joules, rate(joules, low, at.makespan), false,
                            task_values(instance, at)});
    }
  }

  /// No plan earns more.
  double top() const {
    double top = beyond_;
    for (const Interval& interval : intervals_) top = std::max(top, interval.top);
    return top;
  }

  /// One step where the bound is weakest: an interval is priced, or halved.  False: intervals are
  /// so narrow that nothing more is gained, or top() <= floor.  One column generation at most.
  bool tighten(double floor) {
    const auto weakest =
        std::max_element(intervals_.begin(), intervals_.end(),
                         [](const Interval& a, const Interval& b) { return a.top < b.top; });
    if (weakest == intervals_.end() || weakest->top <= std::max(floor, beyond_)) return false;
    if (!weakest->priced) {
      price(*weakest);
      return true;
    }
    if (weakest->high <= weakest->low * (1 + kNarrow)) return false;
    halve(static_cast<std::size_t>(std::distance(intervals_.begin(), weakest)));
    return true;
  }

  /// A makespan drawn from where a plan may earn more than `floor`; nothing where none can.
  std::optional<double> open_makespan(double floor, Rng& rng) const {
    double width = 0;
    for (const Interval& interval : intervals_)
      if (interval.top > floor) width += std::log(interval.high / interval.low);
    double left = rng.uniform() * width;
    for (const Interval& interval : intervals_) {
      if (interval.top <= floor) continue;
      const double own = std::log(interval.high / interval.low);
      if (left <= own) return interval.low * std::exp(left);
      left -= own;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kIntervals = 48;          // to begin with
  static constexpr int kPricingRounds = 60;      // of column generation
  static constexpr double kNarrow = 1e-6;        // relative width of an interval that is not halved
  static constexpr double kRoundingUnit = 1e-9;  // of the sums of a Lagrangian dual

  struct Interval {
    double low, high;  // makespans
    double joules;     // at least, of plans within `high`
    double top;        // no plan with such a makespan earns more
    bool priced;
    std::vector<double> value;  // of a task of each type, from the pricing at or above `high`
  };

  double rate(double joules, double low, double high) const {
    const bool pays = instance_->price() > instance_->energy_cost() * joules;
    return instance_->profit_rate(joules, pays ? low : high);
  }

  double joules_within(double makespan, const std::vector<double>& value) const {
    double sum = 0, size = 0;
    for (int i = 0; i < instance_->types(); ++i) {
      const double all = static_cast<double>(instance_->count(i)) * value[i];
      sum += all;
      size += std::abs(all);
    }
    for (int j = 0; j < instance_->machine_types(); ++j) {
      const double gain = instance_->machines(j) * most_gain(*instance_, j, makespan, value);
      sum -= gain;
      size += gain;
    }
    return sum - kRoundingUnit * size;
  }

  void price(Interval& interval) {
    PatternPool pool(*instance_, interval.high, interval.value);
    interval.value = pool.solve(kPricingRounds, kSurelyMissing).value;
    interval.joules = std::max(interval.joules, joules_within(interval.high, interval.value));
    interval.top = std::min(interval.top, rate(interval.joules, interval.low, interval.high));
    interval.priced = true;
  }

  void halve(std::size_t at) {
    Interval& right = intervals_[at];
    Interval left = right;
    left.high = right.low = std::sqrt(right.low * right.high);
    right.top = std::min(right.top, rate(right.joules, right.low, right.high));
    left.joules = std::max(left.joules, joules_within(left.high, left.value));
    left.joules = std::max(left.joules, energy::joules_at(*front_, left.high));
    left.top = std::min(left.top, rate(left.joules, left.low, left.high));
    left.priced = false;
    intervals_.push_back(std::move(left));
  }

  const Instance* instance_;
  const std::vector<energy::FrontPoint>* front_;
  std::vector<Interval> intervals_;
  double beyond_;  // no plan with a makespan above all intervals earns more
};

}  // namespace cosched::bags::search
