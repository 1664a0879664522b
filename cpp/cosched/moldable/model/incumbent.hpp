// The best schedule of a search so far.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable {

/// The relative error of sums of a few times, which proofs allow for.
inline constexpr double kProofRounding = kSumTolerance;

/// The best schedule so far for one criterion; of several, one that is best for the other one.
class Incumbent {
 public:
  /// `instance` must outlive it.
  Incumbent(const Instance& instance, Objective objective)
      : instance_(instance), objective_(objective) {}

  /// Keeps the schedule if it is better than those offered before.
  void offer(const Placement& placement);
  void offer(Placement&& placement);

  /// The best schedule that was offered; without jobs before the first.
  const Placement& placement() const { return placement_; }
  /// Its value of the criterion.
  double value() const { return key_.first; }

  /// True when no schedule of at least this value is better than the incumbent.
  bool can_prune(double lower_bound) const { return lower_bound >= value() * (1 - kProofRounding); }

 private:
  using ObjectiveKey = std::pair<double, double>;  // the criterion, then the other one

  ObjectiveKey key_of(const Placement& placement) const;
  bool is_better(const ObjectiveKey& key) const;

  const Instance& instance_;
  Objective objective_;
  ObjectiveKey key_;
  Placement placement_;
};

}  // namespace cosched::moldable
