// Free cores, memory and GPUs of each node, as FCFS and EASY count them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// EASY's reservation on nodes with memory and GPUs.  It holds as long as the job finds its nodes
/// among those that are expected to be free at the shadow time.
struct NodeReservation {
  int rank;
  double shadow_time;
  int extra_nodes;  // cores, not nodes, that the job may use and does not need: for the log
  FreeAmounts free_at_shadow_time;
};

/// What FCFS and EASY ask about free nodes: see OneCell for the functions.  Keeps references to the
/// site and to the jobs.
class NodeCells {
 public:
  using JobReservation = NodeReservation;

  /// `makes_reservations`: make_reservation() will be called.
  NodeCells(const Site& site, bool makes_reservations, const std::vector<BatchJob>& jobs);

  BitSet64 open_cells(int rank) const { return need(rank).cells; }
  /// Cores instead of nodes: as messages and rejections count them here.
  int free_nodes_for(int rank) const { return free_cores_in(open_cells(rank)); }
  bool has_free_nodes() const { return free_cores_in(kFullBitSet) > 0; }
  bool has_free_nodes_outside(BitSet64 cells) const { return free_cores_in(~cells) > 0; }

  /// O(nodes); O(1) for a need that found no room since the last release.
  bool choose_nodes(int rank, BitSet64 open_cells, BitSet64 avoided_cells);
  /// The reservation is changed and restored.  O(nodes).
  bool can_spare_nodes(int rank, JobReservation& reservation) const;
  void use_extra_nodes(int rank, JobReservation& reservation) const;

  void allocate(int rank, double now);
  void release(int rank, double start);

  /// O(nodes + pieces that are released until the shadow time).
  JobReservation make_reservation(int rank, double now) const;

  /// What each job had, by its number.
  std::vector<NodePlacement> placements_by_job() const;

 private:
  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }
  int free_cores_in(BitSet64 cells) const;
  // Adds the placement's cores (sign +1) to those that are free, or takes them away (-1).
  void count_free_cores(const NodePlacement& placement, int sign);

  const Site& site_;
  const bool makes_reservations_;
  const std::vector<BatchJob>& jobs_;
  FreeAmounts free_;
  std::vector<int> free_cores_;            // by cell
  std::vector<NodePlacement> placements_;  // by rank
  NodePlacement chosen_placement_;
  // (expected end, rank) of the running jobs, latest first.
  std::vector<std::pair<double, int>> expected_releases_;
  std::int64_t release_count_ = 1;
  // By shape of need: release_count_ when the need last found no room on all the cells that it may
  // use; 0 if it never failed.
  std::vector<std::int64_t> release_count_of_failure_;
};

}  // namespace cosched::cluster::batch
