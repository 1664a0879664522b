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
  using Plan = CellProfile;
  using Share = NodesPerCell;
  using Slot = PlannedSlot<NodesPerCell>;

  CellPlanState(const Layout& layout, const std::vector<BatchJob>& jobs)
      : plan_(layout.nodes), layout_(layout), jobs_(jobs), free_now_(layout.nodes) {}

  Plan& plan() { return plan_; }
  Share empty_share() const { return Share(free_now_.size()); }

  Slot find_earliest_slot(int rank, double now);
  /// Here the earliest slot, also where it starts at the limit or after it.
  Slot find_slot_before(int rank, double now, double /*start_limit*/) {
    return find_earliest_slot(rank, now);
  }
  bool prove_no_earlier_start(int rank, double now, const Slot& slot);

  /// The profile itself remembers where it has room: nothing to note.
  void on_release(const Share& /*share*/) {}
  void on_plan_reset() {}

  bool is_free_now(const Share& share) const;
  void allocate_now(const Share& share);
  void release_now(const Share& share);

 private:
  CellProfile plan_;
  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  NodesPerCell free_now_;
};

}  // namespace cosched::cluster::batch
