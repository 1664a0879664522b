// Advance reservations: which nodes they leave a job, and from when (RULES.md 10).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Reservations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Reservations(const Scenario& scenario) : scenario_(scenario) {}

  /// There are some at that time.
  bool any(double now) const;
  /// The job is in one that is there.
  bool holds(int job, double now) const;

  struct Left {
    bool some;     // false: it cannot run then
    Second from;   // the time that it may be planned for: later than asked behind maintenance
    bool overlap;  // a reservation took nodes of its partition away
  };
  /// Takes away from `nodes` those that a job that begins at `from` may not have.  `move`: to a later
  /// time rather than not at all.
  Left leave(Entry entry, Second from, bool move, double now, NodeBits& nodes) const;

  /// The end of the first that ends after `from`, rounded up; 0 = none.  `epoch` as of Clocks.
  Second next_end(Second from, Second resolution, Second epoch, double now) const;

 private:
  bool there(const Reservation& one, double now) const {
    return one.created <= now && static_cast<double>(one.end) > now;
  }
  bool stops_all(const Reservation& one, Entry entry) const;

  const Scenario& scenario_;
};

}  // namespace cosched::slurm
