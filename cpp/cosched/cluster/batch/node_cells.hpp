// Free nodes with memory and GPUs, as FCFS and EASY count them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/cluster/batch/events.hpp"
#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// The counterpart of OneCell and ManyCells (cells.hpp).  A job that starts spares a reservation if
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
