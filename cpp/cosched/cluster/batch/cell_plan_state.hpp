// What conservative backfilling knows of nodes that are counted by cell.
#pragma once

#include <vector>

#include "cosched/cluster/batch/batch_job.hpp"
#include "cosched/cluster/batch/cell_profile.hpp"
#include "cosched/cluster/batch/layout.hpp"

namespace cosched::cluster::batch {

/// The plan and what is free now: the counterpart of NodePlanState, which documents the functions.
/// Keeps references to the layout and to the jobs.
class CellPlanState {
 public:
  using JobShare = NodesPerCell;
  using JobSlot = PlannedSlot<NodesPerCell>;

  CellPlanState(const Layout& layout, const std::vector<BatchJob>& jobs)
      : plan_(layout.nodes), layout_(layout), jobs_(jobs), free_now_(layout.nodes) {}

  CellProfile& plan() { return plan_; }
  JobShare empty_share() const { return JobShare(free_now_.size()); }

  JobSlot find_earliest_slot(int rank, double now);
  /// Here the earliest slot, also where it starts at the limit or after it.
  JobSlot find_slot_before(int rank, double now, double /*start_limit*/) {
    return find_earliest_slot(rank, now);
  }
  bool prove_no_earlier_start(int rank, double now, const JobSlot& slot);

  /// The profile itself remembers where it has room: nothing to note.
  void on_release(const JobShare& /*share*/) {}
  void on_plan_reset() {}

  bool is_free_now(const JobShare& share) const;
  void allocate_now(const JobShare& share);
  void release_now(const JobShare& share);

 private:
  CellProfile plan_;
  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  NodesPerCell free_now_;
};

}  // namespace cosched::cluster::batch
