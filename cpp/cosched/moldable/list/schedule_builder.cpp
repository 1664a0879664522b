#include "cosched/moldable/list/schedule_builder.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::list {

void ScheduleBuilder::reset() {
  running_.clear();
  current_time_ = 0;
  free_procs_ = instance_.machines();
  placement_ = empty_placement(instance_.jobs());
}

bool ScheduleBuilder::has_room_for(const RunningTask& run) const {
  if (run.procs > free_procs_) return false;
  const Sharing& sharing = *instance_.sharing();
  for (int r = 0; r < sharing.resources(); ++r) {
    double sum = sharing.need(r, run.task, run.procs);
    for (const RunningTask& other : running_jobs()) sum += sharing.need(r, other.task, other.procs);
    if (!leq(sum, sharing.capacity(r))) return false;
  }
  return true;
}

void ScheduleBuilder::start(const RunningTask& run) {
  COSCHED_ASSERT(has_room_for(run));
  running_.start(run, current_time_);
  free_procs_ -= run.procs;
  placement_.procs[run.task] = run.procs;
  placement_.start[run.task] = current_time_;
}

const std::vector<RunningSet::EndedTask>& ScheduleBuilder::advance(double release) {
  static const std::vector<RunningSet::EndedTask> kNoJobs;
  if (release < running_.next_end()) {
    current_time_ = release;
    return kNoJobs;
  }
  const std::vector<RunningSet::EndedTask>& ended = running_.finish();
  for (const auto& [job, end] : ended) {
    placement_.end[job] = end;
    free_procs_ += placement_.procs[job];
    current_time_ = std::max(current_time_, end);
  }
  return ended;
}

}  // namespace cosched::moldable::list
