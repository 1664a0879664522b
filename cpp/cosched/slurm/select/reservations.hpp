// Advance reservations: which nodes they leave a job, and from when (RULES.md 10): `job_test_resv`
// of reservation.c.
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Reservations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Reservations(const Scenario& scenario) : scenario_(scenario) {}

  /// True when there are reservations at that time.
  bool has_existing(double now) const;
  /// True when the reservation of the job exists.
  bool is_in_existing(int job, double now) const;

  struct RemainingNodes {
    bool can_run;         // false: the job cannot run then
    Second earliest;      // the time that it may be planned for: later than asked after maintenance
    bool has_lost_nodes;  // a reservation took nodes of its partition away
  };
  /// Removes from `nodes` those that a job that begins at `from` may not have.  `may_move`: the job
  /// may begin at a later time instead of not at all.
  RemainingNodes remove_reserved(QueueEntry entry, Second from, bool may_move, double now,
                                 NodeBits& nodes) const;
  /// When the first reservation ends that ends after `from`, rounded up; 0: there is none.
  /// `epoch`: as in Clocks.
  Second next_end(Second from, Second resolution, Second epoch, double now) const;

 private:
  bool exists(const Reservation& reservation, double now) const;
  bool overlaps(const Reservation& reservation, int job, Second begin, double now) const;
  bool blocks_partition(const Reservation& reservation, QueueEntry entry) const;
  RemainingNodes keep_reserved(const Reservation& reservation, QueueEntry entry, Second from,
                               double now, NodeBits& nodes) const;

  const Scenario& scenario_;
};

}  // namespace cosched::slurm
