#include "cosched/cluster/batch/one_cell.hpp"

#include <algorithm>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::batch {

void OneCell::allocate(int rank, double now) {
  COSCHED_ASSERT(jobs_[rank].tasks <= free_nodes_);
  free_nodes_ -= jobs_[rank].tasks;
  if (!makes_reservations_) return;
  const ExpectedRelease release = expected_release(rank, now);
  expected_releases_.insert(
      std::lower_bound(expected_releases_.begin(), expected_releases_.end(), release, is_later),
      release);
}

void OneCell::release(int rank, double start) {
  free_nodes_ += jobs_[rank].tasks;
  if (!makes_reservations_) return;
  expected_releases_.erase(std::lower_bound(expected_releases_.begin(), expected_releases_.end(),
                                            expected_release(rank, start), is_later));
}

CellReservation OneCell::make_reservation(int rank, double now) const {
  const int needed_nodes = jobs_[rank].tasks;
  int expected_free_nodes = free_nodes_;
  double shadow_time = now;
  auto release = expected_releases_.rbegin();
  for (; expected_free_nodes < needed_nodes; ++release) {
    expected_free_nodes += release->nodes;
    shadow_time = std::max(now, release->time);
  }
  for (; release != expected_releases_.rend() && release->time <= shadow_time; ++release)
    expected_free_nodes += release->nodes;
  return {rank, shadow_time, expected_free_nodes - needed_nodes};
}

}  // namespace cosched::cluster::batch
