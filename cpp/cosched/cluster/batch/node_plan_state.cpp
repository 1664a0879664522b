#include "cosched/cluster/batch/node_plan_state.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "cosched/cluster/batch/options.hpp"

namespace cosched::cluster::batch {

NodePlanState::NodePlanState(const Site& site, const std::vector<BatchJob>& jobs)
    : plan_(site),
      site_(site),
      jobs_(jobs),
      free_now_(site.capacities()),
      seen_release_counts_(jobs.size(), 0),
      released_nodes_(site.nodes().size(), 0) {
  std::map<std::tuple<int, double, int>, int> kind_numbers;
  for (const BatchJob& job : jobs) {
    // The planned run time of a job without a limit changes (kUnlimitedRuntime), so that each such
    // job is of a kind of its own.
    const int unlimited_job = job.expected_runtime < kUnlimitedRuntime ? -1 : job.job;
    const std::tuple kind(site.need(job.job).shape, job.expected_runtime, unlimited_job);
    const int next_number = static_cast<int>(kind_numbers.size());
    kinds_.push_back(kind_numbers.emplace(kind, next_number).first->second);
  }
  earliest_bounds_.assign(kind_numbers.size(), {.start = -kInfinity, .release_count = 0});
}

NodePlanState::JobSlot NodePlanState::find_earliest_slot(int rank, double now) {
  seen_release_counts_[rank] = release_count_;
  return find_slot_before(rank, now, kInfinity);
}

NodePlanState::JobSlot NodePlanState::find_slot_before(int rank, double now,
                                                       double start_limit) const {
  const NodePlacement& initial_placement = site_.initial_placement(jobs_[rank].job);
  if (!initial_placement.empty()) return {now, initial_placement};
  return plan_.find_earliest_slot(now, need(rank), jobs_[rank].expected_runtime, start_limit);
}

bool NodePlanState::prove_no_earlier_start(int rank, double now, const JobSlot& slot) {
  const std::int64_t seen_release_count = seen_release_counts_[rank];
  seen_release_counts_[rank] = release_count_;
  if (seen_release_count == release_count_ || slot.start <= now) return true;
  const int parts = need(rank).part_count;
  if (parts == 0 || site_.has_initial_placement(jobs_[rank].job)) return false;
  return parts == 1 ? prove_for_one_part(rank, now, slot)
                    : prove_for_parts(rank, now, slot, seen_release_count);
}

bool NodePlanState::prove_for_one_part(int rank, double now, const JobSlot& slot) {
  EarliestBound& bound = earliest_bounds_[kinds_[rank]];
  const double duration = jobs_[rank].expected_runtime;
  const std::int64_t oldest_release = release_count_ - remembered_releases();
  if (bound.release_count < oldest_release) bound.start = -kInfinity;
  for (std::int64_t release = std::max(bound.release_count, oldest_release);
       release < release_count_; ++release)
    bound.start = plan_.find_earliest_start_on(released_node(release), now, need(rank), duration,
                                               bound.start);
  bound.release_count = release_count_;
  // The bound is too low where another job has taken what was free: then it is computed anew.
  if (bound.start < slot.start)
    bound.start = plan_.find_earliest_slot(now, need(rank), duration, kInfinity).start;
  return bound.start >= slot.start && !has_room_just_before(rank, now, slot);
}

bool NodePlanState::prove_for_parts(int rank, double now, const JobSlot& slot,
                                    std::int64_t seen_release_count) const {
  if (release_count_ - seen_release_count > remembered_releases()) return false;
  if (has_room_just_before(rank, now, slot)) return false;
  for (std::int64_t release = seen_release_count; release < release_count_; ++release) {
    const double start = plan_.find_earliest_start_on(released_node(release), now, need(rank),
                                                      jobs_[rank].expected_runtime, slot.start);
    if (start < slot.start) return false;
  }
  return true;
}

bool NodePlanState::has_room_just_before(int rank, double now, const JobSlot& slot) const {
  if (slot.start <= now) return false;
  return std::any_of(slot.share.begin(), slot.share.end(), [&](const Piece& piece) {
    return plan_.is_free_before(piece.node, slot.start, need(rank));
  });
}

void NodePlanState::on_release(const JobShare& share) {
  for (const Piece& piece : share) {
    released_nodes_[release_count_ % remembered_releases()] = piece.node;
    ++release_count_;
  }
}

// Counts more releases than are remembered, so that nothing known from before is used.
void NodePlanState::on_plan_reset() { release_count_ += remembered_releases() + 1; }

bool NodePlanState::is_free_now(const JobShare& share) const {
  return std::all_of(share.begin(), share.end(), [&](const Piece& piece) {
    return free_now_[piece.node].can_hold(piece.amounts);
  });
}

void NodePlanState::allocate_now(const JobShare& share) {
  for (const Piece& piece : share) free_now_[piece.node] -= piece.amounts;
}

void NodePlanState::release_now(const JobShare& share) {
  for (const Piece& piece : share) free_now_[piece.node] += piece.amounts;
}

}  // namespace cosched::cluster::batch
