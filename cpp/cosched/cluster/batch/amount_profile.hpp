// Free cores, memory and GPUs over time, as planned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cosched/cluster/batch/resource_amounts.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {

/// The free amounts hold from `time` until the next step begins.
struct AmountStep {
  double time;
  ResourceAmounts free;
};

/// A step function of time.  There is always at least one step; the last one never ends.
class AmountProfile {
 public:
  /// What happens to two neighbouring steps that have become equal.
  enum class EqualSteps { merge, keep };

  /// `free` from `time` on.
  AmountProfile(double time, const ResourceAmounts& free) : steps_{{time, free}} {}

  /// Requires steps in increasing order of time, at least one.
  explicit AmountProfile(std::vector<AmountStep> steps);

  std::size_t size() const { return steps_.size(); }
  const std::vector<AmountStep>& steps() const { return steps_; }
  const AmountStep& operator[](std::size_t step) const { return steps_[step]; }
  /// Infinity for the last step.
  double end_of(std::size_t step) const {
    return step + 1 < steps_.size() ? steps_[step + 1].time : kInfinity;
  }
  /// The step that contains the time; the first one for times before it.  O(log steps).
  std::size_t step_at(double time) const;

  /// Removes the steps that end by `now`.
  void forget_before(double now);
  /// Adds the amounts, which may be negative, from `begin` to `end`.  Times before the first step
  /// do not count.  O(steps).
  void add(double begin, double end, const ResourceAmounts& amounts,
           EqualSteps equal_steps = EqualSteps::merge);

  /// The earliest start in [now, start_limit) from which the amounts are free for `duration`
  /// seconds; `start_limit` if there is none.  O(steps).
  double find_earliest_start(double now, const ResourceAmounts& amounts, double duration,
                             double start_limit) const;
  /// The smallest amounts that are free at some time in [begin, end).
  ResourceAmounts minimum_between(double begin, double end) const;
  /// Whether the amounts are free just before the time.
  bool is_free_before(double time, const ResourceAmounts& amounts) const;

 private:
  // Makes a step begin at the time and returns it.
  std::size_t insert_border(double time);
  void merge_with_previous(std::size_t step);

  std::vector<AmountStep> steps_;
};

// Measured hot: these two stay in the header, so that NodePlan inlines them.

inline std::size_t AmountProfile::step_at(double time) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time,
                       [](double value, const AmountStep& step) { return value < step.time; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

inline double AmountProfile::find_earliest_start(double now, const ResourceAmounts& amounts,
                                                 double duration, double start_limit) const {
  for (std::size_t step = step_at(now); step < size() && steps_[step].time < start_limit; ++step) {
    if (!steps_[step].free.can_hold(amounts)) continue;
    const double start = std::max(now, steps_[step].time);
    while (end_of(step) < start + duration && steps_[step + 1].free.can_hold(amounts)) ++step;
    if (start + duration <= end_of(step)) return std::min(start, start_limit);
  }
  return start_limit;
}

}  // namespace cosched::cluster::batch
