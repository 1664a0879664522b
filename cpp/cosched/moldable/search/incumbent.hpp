// What a proof has: the best schedule known, and the work that is left.
#pragma once

#include <cstdint>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Relative, of sums of a few times.
inline constexpr double kProofRounding = 1e-12;

class Incumbent {
 public:
  /// `instance` must outlive it.
  Incumbent(const Instance& instance, Objective objective, Placement start)
      : it_(&instance), objective_(objective), best_(std::move(start)), value_(value_of(best_)) {}

  void take(Placement made) {
    const double value = value_of(made);
    if (!(value < value_)) return;
    value_ = value;
    best_ = std::move(made);
  }

  double value() const { return value_; }
  const Placement& placement() const { return best_; }
  /// Whether nothing that costs at least so much is better.
  bool hopeless(double least) const { return least >= value_ * (1 - kProofRounding); }

 private:
  double value_of(const Placement& placement) const {
    return objective_ == Objective::makespan ? makespan(placement)
                                             : weighted_completion(*it_, placement);
  }

  const Instance* it_;
  Objective objective_;
  Placement best_;
  double value_;
};

class Effort {
 public:
  explicit Effort(std::int64_t steps) : left_(steps) {}

  /// May throw as check_interrupt().
  void count(std::int64_t steps) {
    left_ -= steps;
    poll_.count(4 * steps);
  }
  bool over() const { return left_ < 0; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
  Poll poll_;
};

}  // namespace cosched::moldable::search
