#include "cosched/slurm/trace/trace_recorder.hpp"

#include <utility>

namespace cosched::slurm {

bool TraceRecorder::is_in_period(double time) const {
  return selection_.begin_time <= time && time <= selection_.end_time;
}

bool TraceRecorder::wants_cycle(int number, double time) const {
  return selection_.first_cycle <= number && number <= selection_.last_cycle && is_in_period(time);
}

bool TraceRecorder::wants_pass(double time) const {
  return selection_.with_passes && is_in_period(time);
}

void TraceRecorder::add_cycle(CycleTrace cycle) {
  keep_selected_job(cycle.queue, cycle.jobs);
  cycles_.push_back(std::move(cycle));
}

void TraceRecorder::add_pass(PassTrace pass) {
  keep_selected_job(pass.queue, pass.jobs);
  passes_.push_back(std::move(pass));
}

// Another task of an array may start in place of the one that was tested: both are the job's part.
void TraceRecorder::keep_selected_job(std::vector<QueuedJob>& queue,
                                      std::vector<TracedJob>& jobs) const {
  if (selection_.job < 0) return;
  std::erase_if(queue, [&](const QueuedJob& entry) { return entry.job != selection_.job; });
  std::erase_if(jobs, [&](const TracedJob& traced) {
    return traced.entry.job != selection_.job && traced.started_job != selection_.job;
  });
}

}  // namespace cosched::slurm
