// Which submitted jobs are looked at: begin time, hold, dependencies, singletons, tasks of an array
// (RULES.md 9).
#pragma once

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class Readiness {
 public:
  /// Requires that both outlive it.
  Readiness(const Scenario& scenario, const Allocations& allocations)
      : scenario_(scenario), allocations_(allocations), states_(scenario.jobs().size()) {
    int number = 0;
    for (const Job& job : scenario.jobs()) {
      const Conditions& conditions = job.conditions;
      readiness_of(number).is_held = conditions.is_held;
      readiness_of(number).begin = to_second(conditions.begin);
      if (conditions.array >= static_cast<int>(array_running_.size()))
        array_running_.resize(static_cast<std::size_t>(conditions.array) + 1);
      if (const int name = std::max(conditions.singleton, conditions.singleton_name); name >= 0) {
        const auto group = static_cast<std::size_t>(name);
        if (group >= singletons_.size()) singletons_.resize(group + 1);
        singletons_[group].push_back(number);
      }
      ++number;
    }
  }

  /// A submitted job: whether it is ready at once.  If not, it waits to be ready.
  bool submit(int job, Second now) {
    readiness_of(job).is_submitted = true;
    readiness_of(job).was_independent = is_independent(job);
    if (scenario_.job(job).conditions.are_empty() || is_ready(job, now)) return true;
    waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
    return false;
  }

  /// It was held, and is no more.
  void release(int job) { readiness_of(job).is_held = false; }
  /// It waits again, until `begin` at the earliest.
  void requeue(int job, Second begin) {
    readiness_of(job).begin = begin;
    waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
  }

  /// How the job ended.
  void end(int job, bool failed) { readiness_of(job).has_failed = failed; }

  /// Calls ready(job, free) for those that are ready by now, in order of their numbers; they wait
  /// no more. `free`: no other job kept it any more when this was called last.
  template <class Ready>
  void admit(Second now, Ready ready) {
    if (waiting_.empty()) return;
    std::vector<int> still;
    for (const int job : waiting_) {
      const bool free = readiness_of(job).was_independent;
      readiness_of(job).was_independent = is_independent(job);
      if (is_ready(job, now))
        ready(job, free);
      else
        still.push_back(job);
    }
    waiting_ = std::move(still);
  }
  /// Submitted jobs that wait to be ready, and are not held.
  std::vector<int> unheld_jobs() const {
    std::vector<int> found;
    for (const int job : waiting_)
      if (!readiness_of(job).is_held) found.push_back(job);
    return found;
  }

  /// As many tasks of its array run as may.
  bool is_array_full(int job) const {
    if (scenario_.array_of(job) < 0) return false;
    const int limit = scenario_.job(job).conditions.array_limit;
    return limit > 0 && running_tasks(job) >= limit;
  }

  /// Tasks of the job's array that run.
  int running_tasks(int job) const { return array_running_[scenario_.array_of(job)]; }

  /// A task of an array starts or is over.
  void count_tasks(int job, int tasks) {
    const int array = scenario_.array_of(job);
    if (array >= 0) array_running_[array] += tasks;
  }

 private:
  struct JobReadiness {
    Second begin = 0;
    bool is_submitted = false, is_held = false, has_failed = false;
    bool was_independent = false;  // of other jobs, as of the last call of admit
  };
  JobReadiness& readiness_of(int job) { return states_[job]; }
  const JobReadiness& readiness_of(int job) const { return states_[job]; }
  bool is_ready(int job, Second now) const {
    const JobReadiness& state = readiness_of(job);
    return !state.is_held && state.begin <= now && is_independent(job);
  }

  bool is_independent(int job) const {
    const std::vector<Dependency>& after = scenario_.job(job).conditions.dependencies;
    return std::all_of(after.begin(), after.end(),
                       [&](const Dependency& one) { return is_met(one); }) &&
           is_singleton_alone(job);
  }

  // After a job whose node failed is after it has run again.
  bool is_met(const Dependency& dependency) const {
    const std::vector<int>& jobs = dependency.jobs;
    const auto all = [&](auto is) { return std::all_of(jobs.begin(), jobs.end(), is); };
    if (dependency.kind == Dependency::Kind::after)
      return all([&](int job) { return allocations_.has_started(job); });
    if (!all([&](int job) { return allocations_.is_done(job); })) return false;
    const bool failed = std::any_of(jobs.begin(), jobs.end(),
                                    [&](int job) { return readiness_of(job).has_failed; });
    switch (dependency.kind) {
      case Dependency::Kind::after_ok:
        return !failed;
      case Dependency::Kind::after_not_ok:
        return failed;
      default:
        return true;
    }
  }

  // No other job of its name runs, and none that was submitted before it waits.
  bool is_singleton_alone(int job) const {
    const int group = scenario_.job(job).conditions.singleton;
    if (group < 0) return true;
    const std::vector<int>& jobs = singletons_[group];
    return std::none_of(jobs.begin(), jobs.end(), [&](int other) {
      if (other == job || allocations_.is_done(other)) return false;
      return allocations_.has_started(other) || (other < job && readiness_of(other).is_submitted);
    });
  }

  const Scenario& scenario_;
  const Allocations& allocations_;
  std::vector<JobReadiness> states_;
  std::vector<int> waiting_;                  // increasing
  std::vector<int> array_running_;            // tasks by array
  std::vector<std::vector<int>> singletons_;  // jobs by their number
};

}  // namespace cosched::slurm
