#include "cosched/cluster/batch/node_cells.hpp"

#include <algorithm>
#include <functional>

#include "cosched/cluster/batch/need_tally.hpp"

namespace cosched::cluster::batch {
namespace {

std::size_t number_of_cells(const Site& site) {
  int cells = 1;
  for (const SiteNode& node : site.nodes()) cells = std::max(cells, node.cell + 1);
  return static_cast<std::size_t>(cells);
}

void add_placement(FreeAmounts& free, const NodePlacement& placement) {
  for (const Piece& piece : placement) free[piece.node] += piece.amounts;
}

void subtract_placement(FreeAmounts& free, const NodePlacement& placement) {
  for (const Piece& piece : placement) free[piece.node] -= piece.amounts;
}

}  // namespace

NodeCells::NodeCells(const Site& site, bool makes_reservations, const std::vector<BatchJob>& jobs)
    : site_(site),
      makes_reservations_(makes_reservations),
      jobs_(jobs),
      free_(site.capacities()),
      free_cores_(number_of_cells(site)),
      placements_(jobs.size()),
      release_count_of_failure_(site.shape_count()) {
  for (const SiteNode& node : site.nodes()) free_cores_[node.cell] += node.capacity.cores;
}

bool NodeCells::choose_nodes(int rank, BitSet64 open_cells, BitSet64 avoided_cells) {
  const int job = jobs_[rank].job;
  if (site_.has_initial_placement(job)) {
    chosen_placement_ = site_.initial_placement(job);
    return true;
  }
  const Need& job_need = need(rank);
  std::int64_t& release_count_of_failure = release_count_of_failure_[job_need.shape];
  if (release_count_of_failure == release_count_) return false;
  if (jobs_[rank].tasks > free_cores_in(open_cells)) return false;
  if (site_.find_placement(job_need, free_, open_cells, avoided_cells, &chosen_placement_))
    return true;
  if (open_cells == job_need.cells) release_count_of_failure = release_count_;
  return false;
}

bool NodeCells::can_spare_nodes(int /*rank*/, JobReservation& reservation) const {
  FreeAmounts& free = reservation.free_at_shadow_time;
  subtract_placement(free, chosen_placement_);
  const bool has_room = site_.has_room_for(need(reservation.rank), free);
  add_placement(free, chosen_placement_);
  return has_room;
}

void NodeCells::use_extra_nodes(int /*rank*/, JobReservation& reservation) const {
  subtract_placement(reservation.free_at_shadow_time, chosen_placement_);
  for (const Piece& piece : chosen_placement_)
    if (has_bit(open_cells(reservation.rank), site_.nodes()[piece.node].cell))
      reservation.extra_nodes -= piece.amounts.cores;
}

void NodeCells::allocate(int rank, double now) {
  placements_[rank] = chosen_placement_;
  subtract_placement(free_, placements_[rank]);
  count_free_cores(placements_[rank], -1);
  if (!makes_reservations_) return;
  const std::pair<double, int> release{now + jobs_[rank].expected_runtime, rank};
  expected_releases_.insert(std::lower_bound(expected_releases_.begin(), expected_releases_.end(),
                                             release, std::greater<>()),
                            release);
}

void NodeCells::release(int rank, double start) {
  add_placement(free_, placements_[rank]);
  count_free_cores(placements_[rank], +1);
  ++release_count_;
  if (!makes_reservations_) return;
  const std::pair<double, int> release{start + jobs_[rank].expected_runtime, rank};
  expected_releases_.erase(std::lower_bound(expected_releases_.begin(), expected_releases_.end(),
                                            release, std::greater<>()));
}

NodeReservation NodeCells::make_reservation(int rank, double now) const {
  FreeAmounts free = free_;
  NeedTally tally(site_, need(rank), free);
  double shadow_time = now;
  for (auto release = expected_releases_.rbegin(); release != expected_releases_.rend();
       ++release) {
    const auto [expected_end, releasing_rank] = *release;
    if (expected_end > shadow_time && tally.has_room()) break;
    shadow_time = std::max(shadow_time, expected_end);
    for (const Piece& piece : placements_[releasing_rank]) {
      const ResourceAmounts before = free[piece.node];
      free[piece.node] += piece.amounts;
      tally.update(piece.node, before, free[piece.node]);
    }
  }
  int extra_cores = -jobs_[rank].tasks;
  for (std::size_t k = 0; k < free.size(); ++k)
    if (has_bit(open_cells(rank), site_.nodes()[k].cell)) extra_cores += free[k].cores;
  return {rank, shadow_time, extra_cores, std::move(free)};
}

std::vector<NodePlacement> NodeCells::placements_by_job() const {
  std::vector<NodePlacement> by_job(placements_.size());
  for (std::size_t rank = 0; rank < placements_.size(); ++rank)
    by_job[jobs_[rank].job] = placements_[rank];
  return by_job;
}

int NodeCells::free_cores_in(BitSet64 cells) const {
  int total = 0;
  for (std::size_t c = 0; c < free_cores_.size(); ++c)
    if (has_bit(cells, c)) total += free_cores_[c];
  return total;
}

void NodeCells::count_free_cores(const NodePlacement& placement, int sign) {
  for (const Piece& piece : placement)
    free_cores_[site_.nodes()[piece.node].cell] += sign * piece.amounts.cores;
}

}  // namespace cosched::cluster::batch
