// A schedule of jobs that share the machine, built event by event.
#pragma once

#include "cosched/core/running_set.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// The jobs that run, the free processors, and the placement so far.  Keeps its memory between
/// schedules.
class ScheduleBuilder {
 public:
  /// `instance` must outlive it, and share something.
  explicit ScheduleBuilder(const Instance& instance)
      : instance_(instance), running_(instance.sharing()) {
    reset();
  }

  /// Begins a new schedule at time 0.
  void reset();

  double current_time() const { return current_time_; }
  int free_procs() const { return free_procs_; }
  const std::vector<RunningTask>& running_jobs() const { return running_.set(); }
  const Placement& placement() const { return placement_; }

  /// The run of a job on so many processors.
  RunningTask make_run(int job, int procs) const {
    return {job, procs, instance_.exact_time(job, procs)};
  }
  /// Whether the processors and the resources that the run needs are free.
  bool has_room_for(const RunningTask& run) const;
  /// Starts it now.  Requires has_room_for(run).
  void start(const RunningTask& run);
  /// Goes to the next end, or to `release` where that is sooner, and returns the jobs that ended.
  const std::vector<RunningSet::EndedTask>& advance(double release = kInfinity);

 private:
  const Instance& instance_;
  RunningSet running_;
  double current_time_ = 0;
  int free_procs_ = 0;
  Placement placement_;
};

}  // namespace cosched::moldable::list
