#include "cosched/cluster/batch/cell_plan_state.hpp"

namespace cosched::cluster::batch {

CellPlanState::JobSlot CellPlanState::find_earliest_slot(int rank, double now) {
  const BatchJob& job = jobs_[rank];
  if (layout_.has_initial_nodes(job.job)) return {now, layout_.initial_nodes_per_cell(job.job)};
  return plan_.find_earliest_slot(now, job.tasks, job.expected_runtime,
                                  layout_.open_cells[job.job]);
}

bool CellPlanState::prove_no_earlier_start(int rank, double now, const JobSlot& slot) {
  const BatchJob& job = jobs_[rank];
  if (free_now_.size() > 1) return !plan_.find_room_before(job.tasks, slot.start);
  return plan_.find_start_before(now, job.tasks, job.expected_runtime, slot.start) == slot.start;
}

bool CellPlanState::is_free_now(const JobShare& share) const {
  for (std::size_t c = 0; c < free_now_.size(); ++c)
    if (share[c] > free_now_[c]) return false;
  return true;
}

void CellPlanState::allocate_now(const JobShare& share) {
  for (std::size_t c = 0; c < free_now_.size(); ++c) free_now_[c] -= share[c];
}

void CellPlanState::release_now(const JobShare& share) {
  for (std::size_t c = 0; c < free_now_.size(); ++c) free_now_[c] += share[c];
}

}  // namespace cosched::cluster::batch
