// Free nodes of a machine whose nodes are all alike and open to every job.
#pragma once

#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/batch/bit_set.hpp"
#include "cosched/cluster/batch/cell_reservation.hpp"

namespace cosched::cluster::batch {

/// What FCFS and EASY (fcfs_easy.cpp) ask about free nodes.  ManyCells and NodeCells have the
/// same functions; here they are O(1), but for what keeps the running jobs in order of their
/// expected ends: O(running jobs) moves of a few bytes, after O(log running) comparisons.
class OneCell {
 public:
  using JobReservation = CellReservation;

  /// `makes_reservations`: make_reservation() will be called.
  OneCell(int nodes, bool makes_reservations, const std::vector<BatchJob>& jobs)
      : jobs_(jobs.data()), free_nodes_(nodes), makes_reservations_(makes_reservations) {}

  /// The cells that the job may use.
  BitSet64 open_cells(int /*rank*/) const { return 1; }
  /// How many nodes are free that the job may use.
  int free_nodes_for(int /*rank*/) const { return free_nodes_; }
  bool has_free_nodes() const { return free_nodes_ > 0; }
  /// Whether nodes are free in other cells than these.  Requires `cells` to contain the cell.
  bool has_free_nodes_outside(BitSet64 /*cells*/) const { return false; }

  /// Chooses free nodes of open cells for the job, those of avoided cells last.  False: there are
  /// not enough.
  bool choose_nodes(int rank, BitSet64 /*open_cells*/, BitSet64 /*avoided_cells*/) {
    return jobs_[rank].tasks <= free_nodes_;
  }
  /// Whether the reservation holds although the job keeps the nodes chosen last for ever.
  bool can_spare_nodes(int rank, const JobReservation& reservation) const {
    return jobs_[rank].tasks <= reservation.extra_nodes;
  }
  /// The job takes the nodes chosen last out of the reservation's extra ones.
  void use_extra_nodes(int rank, JobReservation& reservation) const {
    reservation.extra_nodes -= jobs_[rank].tasks;
  }

  /// The job starts on the nodes chosen last.
  void allocate(int rank, double now);
  /// The job, which started at that time, has ended.
  void release(int rank, double start);

  /// Requires that the job does not fit now but fits on the empty machine.
  JobReservation make_reservation(int rank, double now) const;

 private:
  struct ExpectedRelease {
    double time;
    int nodes;
    int rank;
  };
  static bool is_later(const ExpectedRelease& a, const ExpectedRelease& b) {
    return a.time != b.time ? a.time > b.time : a.rank > b.rank;
  }
  ExpectedRelease expected_release(int rank, double start) const {
    return {start + jobs_[rank].expected_runtime, jobs_[rank].tasks, rank};
  }

  const BatchJob* jobs_;
  int free_nodes_;
  bool makes_reservations_;
  // Of the running jobs, latest first, so that the earliest is removed from the end.
  std::vector<ExpectedRelease> expected_releases_;
};

}  // namespace cosched::cluster::batch
