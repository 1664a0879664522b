// Which submitted jobs may be tried: begin time, hold, dependencies, singletons, tasks of an array
// (RULES.md 9): `job_independent` of job_scheduler.c.
#pragma once

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class Readiness {
 public:
  /// Requires that both outlive it.
  Readiness(const Scenario& scenario, const Allocations& allocations);

  /// A job is submitted.  Returns whether it is ready at once; if not, it waits to be ready.
  bool submit(int job, Second now);
  /// The job was held, and is released.
  void release(int job) { states_[job].is_held = false; }
  /// The job waits again, until `begin` at the earliest.
  void requeue(int job, Second begin);
  /// The job has ended.
  void end(int job, bool has_failed) { states_[job].has_failed = has_failed; }

  /// Calls on_ready(job, was_independent) for the jobs that are ready by now, in order of their
  /// numbers; they do not wait to be ready any more.  `was_independent`: no other job kept the job
  /// from being ready when this was called last.
  template <class OnReady>
  void admit(Second now, OnReady on_ready);
  /// Submitted jobs that wait to be ready, and are not held.
  std::vector<int> unheld_jobs() const;

  /// True when as many tasks of the job's array run as may (%n).
  bool is_array_full(int job) const;
  /// Tasks of the job's array that run.
  int running_tasks(int job) const { return array_running_[scenario_.array_of(job)]; }
  /// So many more tasks of the job's array run.
  void count_tasks(int job, int tasks);

 private:
  struct JobReadiness {
    Second begin = 0;
    bool is_submitted = false;
    bool is_held = false;
    bool has_failed = false;
    bool was_independent = false;  // of other jobs, as of the last call of admit
  };

  bool is_ready(int job, Second now) const;
  bool is_independent(int job) const;
  bool is_met(const Dependency& dependency) const;
  bool is_singleton_free(int job) const;
  void insert_waiting(int job);

  const Scenario& scenario_;
  const Allocations& allocations_;
  std::vector<JobReadiness> states_;                 // by job
  std::vector<int> waiting_jobs_;                    // increasing
  std::vector<int> array_running_;                   // running tasks by array
  std::vector<std::vector<int>> jobs_by_singleton_;  // jobs of one user and name
};

template <class OnReady>
void Readiness::admit(Second now, OnReady on_ready) {
  if (waiting_jobs_.empty()) return;
  std::vector<int> unready_jobs;
  for (const int job : waiting_jobs_) {
    const bool was_independent = states_[job].was_independent;
    states_[job].was_independent = is_independent(job);
    if (is_ready(job, now))
      on_ready(job, was_independent);
    else
      unready_jobs.push_back(job);
  }
  waiting_jobs_ = std::move(unready_jobs);
}

}  // namespace cosched::slurm
