// Free nodes of each cell of a machine with partitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/batch/cell_reservation.hpp"
#include "cosched/cluster/batch/layout.hpp"

namespace cosched::cluster::batch {

/// What FCFS and EASY ask about free nodes: see OneCell for the functions.  Keeps references to the
/// layout and to the jobs.
class ManyCells {
 public:
  using JobReservation = CellReservation;

  ManyCells(const Layout& layout, const std::vector<BatchJob>& jobs);

  BitSet64 open_cells(int rank) const { return layout_.open_cells[jobs_[rank].job]; }
  int free_nodes_for(int rank) const { return sum_over(open_cells(rank), free_nodes_.data()); }
  bool has_free_nodes() const { return sum_over(kFullBitSet, free_nodes_.data()) > 0; }
  bool has_free_nodes_outside(BitSet64 cells) const {
    return sum_over(~cells, free_nodes_.data()) > 0;
  }

  /// A job that has nodes when the simulation begins keeps these.
  bool choose_nodes(int rank, BitSet64 open_cells, BitSet64 avoided_cells);
  bool can_spare_nodes(int rank, const JobReservation& reservation) const {
    return reserved_cells_nodes(rank, reservation) <= reservation.extra_nodes;
  }
  void use_extra_nodes(int rank, JobReservation& reservation) const {
    reservation.extra_nodes -= reserved_cells_nodes(rank, reservation);
  }

  void allocate(int rank, double now);
  void release(int rank, double start);

  /// O(running jobs log running jobs).
  JobReservation make_reservation(int rank, double now) const;

  /// shares[job * cells + c], the nodes of cell c that the job had.
  std::vector<int> shares_by_job() const;

 private:
  struct StartedJob {
    int rank;
    double start;
  };

  // Sum of numbers by cell over the cells of the set.  Measured hot.
  int sum_over(BitSet64 cells, const int* nodes) const {
    int total = 0;
    for (std::size_t c = 0; c < free_nodes_.size(); ++c)
      if (has_bit(cells, c)) total += nodes[c];
    return total;
  }
  // Nodes of the job's share that the job with this reservation may use.
  int reserved_cells_nodes(int rank, const JobReservation& reservation) const {
    return sum_over(open_cells(reservation.rank), share(rank));
  }
  int* share(int rank) {
    return shares_.data() + static_cast<std::size_t>(rank) * free_nodes_.size();
  }
  const int* share(int rank) const {
    return shares_.data() + static_cast<std::size_t>(rank) * free_nodes_.size();
  }

  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  std::vector<int> free_nodes_;  // by cell
  std::vector<int> shares_;      // shares_[rank * cells + c]: chosen last, of jobs that started had
  std::vector<StartedJob> running_jobs_;
};

// Measured hot: called for each job in the queue at each pass.
inline bool ManyCells::choose_nodes(int rank, BitSet64 open_cells, BitSet64 avoided_cells) {
  int* chosen_nodes = share(rank);
  const int job = jobs_[rank].job;
  if (layout_.has_initial_nodes(job)) {
    const std::vector<int> initial_nodes = layout_.initial_nodes_per_cell(job);
    std::copy(initial_nodes.begin(), initial_nodes.end(), chosen_nodes);
    return true;
  }
  int missing_nodes = jobs_[rank].tasks;
  std::fill_n(chosen_nodes, free_nodes_.size(), 0);
  for (const BitSet64 cells : {open_cells & ~avoided_cells, open_cells & avoided_cells})
    for (std::size_t c = 0; c < free_nodes_.size(); ++c) {
      if (!has_bit(cells, c)) continue;
      chosen_nodes[c] = std::min(missing_nodes, free_nodes_[c]);
      missing_nodes -= chosen_nodes[c];
    }
  return missing_nodes == 0;
}

}  // namespace cosched::cluster::batch
