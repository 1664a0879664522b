// The work that a proof may do.
#pragma once

#include <cstdint>

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {

/// Counts steps of work down from a total, and looks at the clock now and then.
class WorkBudget {
 public:
  explicit WorkBudget(std::int64_t steps) : total_steps_(steps), remaining_steps_(steps) {}

  /// May throw as check_interrupt().
  void spend(std::int64_t steps) {
    remaining_steps_ -= steps;
    poll_.count(kNanosecondsPerStep * steps);
  }
  bool is_exhausted() const { return remaining_steps_ < 0; }
  /// Below 0 once the budget is exhausted.
  std::int64_t remaining_steps() const { return remaining_steps_; }
  std::int64_t used_steps() const { return total_steps_ - remaining_steps_; }

 private:
  static constexpr std::int64_t kNanosecondsPerStep = 4;  // about

  std::int64_t total_steps_, remaining_steps_;
  Poll poll_;
};

}  // namespace cosched::moldable::search
