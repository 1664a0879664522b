// Free nodes as FCFS and EASY count them: of one cell, or of the cells that each job may use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/cluster/batch/events.hpp"
#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// Nodes kept for a job that does not fit: at its *shadow* time, the earliest when enough of those it may
/// use are expected to be free, all of these beyond its own are *extra*.
struct Reservation {
  int rank;
  double shadow;
  int extra;
};

/// All nodes alike, open to every job.  Keeps expected ends in order: O(log running) a job.
class OneCell {
 public:
  using Reservation = batch::Reservation;

  /// `plans`: reserve() will be called.
  OneCell(int nodes, bool plans, const std::vector<BatchJob>& jobs)
      : jobs_(jobs.data()), free_(nodes), plans_(plans) {}

  std::uint64_t allowed(int) const { return 1; }
  int free(int) const { return free_; }  // that a job may use
  bool any_free() const { return free_ > 0; }
  bool all_blocked(std::uint64_t) const { return true; }
  /// Whether there are nodes for the job among `open` cells; they become its share, with cells that are not
  /// in `last` first.
  bool choose(int rank, std::uint64_t, std::uint64_t) { return jobs_[rank].tasks <= free_; }
  /// Whether the job with this reservation can do without the share of the job chosen last ...
  bool spared(int rank, const Reservation& other) const { return jobs_[rank].tasks <= other.extra; }
  /// ... which it then does.
  void use_up(int rank, Reservation& other) const { other.extra -= jobs_[rank].tasks; }
  void take(int rank, double now) {
    free_ -= jobs_[rank].tasks;
    if (!plans_) return;
    const Back back{now + jobs_[rank].expected, jobs_[rank].tasks, rank};
    back_.insert(std::lower_bound(back_.begin(), back_.end(), back, later), back);
  }
  void give(int rank, double start) {
    free_ += jobs_[rank].tasks;
    if (!plans_) return;
    const Back back{start + jobs_[rank].expected, jobs_[rank].tasks, rank};
    back_.erase(std::lower_bound(back_.begin(), back_.end(), back, later));
  }
  Reservation reserve(int rank, double now) const;

 private:
  struct Back {  // nodes that a running job is expected to give back
    double end;
    int tasks, rank;
  };
  static bool later(const Back& a, const Back& b) {
    return a.end != b.end ? a.end > b.end : a.rank > b.rank;
  }

  const BatchJob* jobs_;
  int free_;
  bool plans_;
  std::vector<Back> back_;  // latest first, so that the earliest is popped from the end
};

/// Cells of a layout.  O(running log running) a reservation.
class ManyCells {
 public:
  using Reservation = batch::Reservation;

  ManyCells(const Layout& layout, const std::vector<BatchJob>& jobs);

  std::uint64_t allowed(int rank) const { return layout_.allowed[jobs_[rank].job]; }
  int free(int rank) const { return sum(allowed(rank), free_.data()); }
  bool any_free() const { return sum(~std::uint64_t{0}, free_.data()) > 0; }
  bool all_blocked(std::uint64_t blocked) const { return sum(~blocked, free_.data()) == 0; }
  bool choose(int rank, std::uint64_t open, std::uint64_t last);
  bool spared(int rank, const Reservation& other) const { return used(rank, other) <= other.extra; }
  void use_up(int rank, Reservation& other) const { other.extra -= used(rank, other); }
  void take(int rank, double now);
  void give(int rank, double start);
  Reservation reserve(int rank, double now) const;

  /// By job.
  std::vector<int> shares() const;

 private:
  struct Run {
    int rank;
    double start;
  };
  int sum(std::uint64_t cells, const int* nodes) const;
  /// Nodes of its share that a job with this reservation might use.
  int used(int rank, const Reservation& other) const {
    return sum(allowed(other.rank), share(rank));
  }
  int* share(int rank) { return shares_.data() + static_cast<std::size_t>(rank) * free_.size(); }
  const int* share(int rank) const {
    return shares_.data() + static_cast<std::size_t>(rank) * free_.size();
  }

  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  std::vector<int> free_;    // by cell
  std::vector<int> shares_;  // by rank: of each cell
  std::vector<Run> running_;
};

// Free nodes with memory and GPUs, as FCFS and EASY count them.

/// The counterpart of OneCell and ManyCells.  A job that starts spares a reservation if
/// its holder still finds its nodes among those that are expected to be free at the shadow time.
class NodeCells {
 public:
  struct Reservation {
    int rank;
    double shadow;
    int extra;  // cores that the holder may use and does not need, for the log
    Free then;  // expected to be free at the shadow time
  };

  /// `plans`: reserve() will be called.
  NodeCells(const Site& site, bool plans, const std::vector<BatchJob>& jobs);

  std::uint64_t allowed(int rank) const { return need(rank).cells; }
  int free(int rank) const { return cores(allowed(rank)); }
  bool any_free() const { return cores(~std::uint64_t{0}) > 0; }
  bool all_blocked(std::uint64_t blocked) const { return cores(~blocked) == 0; }
  /// O(nodes); O(1) for a need that found no room since something was freed.
  bool choose(int rank, std::uint64_t open, std::uint64_t last);
  /// Of the job chosen last.
  bool spared(int rank, Reservation& other) const;
  void use_up(int rank, Reservation& other) const;
  void take(int rank, double now);
  void give(int rank, double start);
  /// O(nodes + pieces that come back).
  Reservation reserve(int rank, double now) const;

  /// By job.
  std::vector<Placement> placements() const;

 private:
  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }
  int cores(std::uint64_t cells) const;
  void count(const Placement& pieces, int sign);

  const Site& site_;
  const bool plans_;
  const std::vector<BatchJob>& jobs_;
  Free free_;
  std::vector<int> free_cores_;  // by cell
  std::vector<Placement> held_;  // by rank
  Placement chosen_;
  std::vector<std::pair<double, int>>
      back_;                              // (expected end, rank) of those that run, latest first
  std::vector<std::int64_t> found_none_;  // by shape: when it last found no room ...
  std::int64_t gifts_ = 1;                // ... counted in jobs that gave theirs back
};

}  // namespace cosched::cluster::batch
