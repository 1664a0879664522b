// A search that is run round by round.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

class SearchRounds {
 public:
  virtual ~SearchRounds() = default;
  /// Looks for schedules before the first round.  May throw as check_interrupt().
  virtual void offer_first_schedules() = 0;
  /// Runs the round of this number, with `work` operations for each job.  Returns whether another
  /// round can find something better.  May throw as check_interrupt().
  virtual bool run_round(std::int64_t work, int number) = 0;
  /// The best schedule so far.
  virtual const Placement& best() const = 0;
  /// Whether a bound proves that nothing is better than best().
  virtual bool is_proved() const { return false; }
};

}  // namespace cosched::moldable::search
