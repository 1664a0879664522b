// What conservative backfilling knows of nodes with memory and GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/batch/node_plan.hpp"

namespace cosched::cluster::batch {

/// The plan, what is free now, and which jobs cannot start earlier than planned.  The counterpart
/// of CellPlanState.  Keeps references to the site and to the jobs.
///
/// A job that found no earlier start finds one only where something was released since then: on a
/// node of the released share, or on its own nodes just before its start (with its own slot given
/// back, it would have both intervals).  Jobs with equal needs and equal expected run times share
/// what one of them has found, so that thousands of waiting jobs cost little as long as none of
/// them can move.
class NodePlanState {
 public:
  using JobShare = NodePlacement;
  using JobSlot = PlannedSlot<NodePlacement>;

  NodePlanState(const Site& site, const std::vector<BatchJob>& jobs);

  NodePlan& plan() { return plan_; }
  /// The share of a job that has not been planned.
  JobShare empty_share() const { return {}; }

  /// The earliest slot of the job; the nodes that it has from the begin of the simulation on, where
  /// it has some.
  JobSlot find_earliest_slot(int rank, double now);
  /// The same if it starts before the limit, else no slot: the start is the limit.
  JobSlot find_slot_before(int rank, double now, double start_limit) const;

  /// Tries to prove that the job, if it gave its slot back, would find none that starts earlier.
  /// False: nothing is proven.  Notes what was looked at, so that the next call looks only at what
  /// was released since.
  /// O(nodes released since a job of this kind looked).
  bool prove_no_earlier_start(int rank, double now, const JobSlot& slot);

  /// The share has become free in the plan for longer than before.
  void on_release(const JobShare& share);
  /// The plan has been reset.
  void on_plan_reset();

  /// Whether the share is free now.
  bool is_free_now(const JobShare& share) const;
  /// A job starts on the share.
  void allocate_now(const JobShare& share);
  /// The job on the share has ended.
  void release_now(const JobShare& share);

 private:
  // No part of a need of this kind finds its amounts before `start`, as far as the first
  // `release_count` releases are concerned.
  struct EarliestBound {
    double start;
    std::int64_t release_count;
  };

  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }
  std::int64_t remembered_releases() const {
    return static_cast<std::int64_t>(released_nodes_.size());
  }
  int released_node(std::int64_t release) const {
    return released_nodes_[release % remembered_releases()];
  }

  bool prove_for_one_part(int rank, double now, const JobSlot& slot);
  bool prove_for_parts(int rank, double now, const JobSlot& slot,
                       std::int64_t seen_release_count) const;
  // Whether one of its own nodes is free for a part of it just before its start.
  bool has_room_just_before(int rank, double now, const JobSlot& slot) const;

  NodePlan plan_;
  const Site& site_;
  const std::vector<BatchJob>& jobs_;
  FreeAmounts free_now_;
  std::vector<int> kinds_;  // by rank: equal for equal needs and equal expected run times
  std::vector<EarliestBound> earliest_bounds_;     // by kind
  std::vector<std::int64_t> seen_release_counts_;  // by rank: release_count_ when it looked last
  // Released node of the latest releases, a ring as long as there are nodes: release k is at
  // k modulo the length.
  std::vector<int> released_nodes_;
  std::int64_t release_count_ = 0;  // nodes released so far, each time that they were
};

}  // namespace cosched::cluster::batch
