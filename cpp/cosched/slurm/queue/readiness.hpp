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
      of(number).held = conditions.held;
      of(number).begin = whole(conditions.begin);
      if (conditions.array >= static_cast<int>(array_running_.size()))
        array_running_.resize(static_cast<std::size_t>(conditions.array) + 1);
      if (const int name = std::max(conditions.singleton, conditions.namesake); name >= 0) {
        const auto group = static_cast<std::size_t>(name);
        if (group >= singletons_.size()) singletons_.resize(group + 1);
        singletons_[group].push_back(number);
      }
      ++number;
    }
  }

  /// A submitted job: whether it is ready at once.  If not, it waits to be ready.
  bool submit(int job, Second now) {
    of(job).submitted = true;
    of(job).free = independent(job);
    if (scenario_.job(job).conditions.none() || is_ready(job, now)) return true;
    waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
    return false;
  }

  /// It was held, and is no more.
  void release(int job) { of(job).held = false; }
  /// It waits again, until `begin` at the earliest.
  void requeue(int job, Second begin) {
    of(job).begin = begin;
    waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), job), job);
  }

  /// How the job ended.
  void end(int job, bool failed) { of(job).failed = failed; }

  /// Calls ready(job, free) for those that are ready by now, in order of their numbers; they wait
  /// no more. `free`: no other job kept it any more when this was called last.
  template <class Ready>
  void admit(Second now, Ready ready) {
    if (waiting_.empty()) return;
    std::vector<int> still;
    for (const int job : waiting_) {
      const bool free = of(job).free;
      of(job).free = independent(job);
      if (is_ready(job, now))
        ready(job, free);
      else
        still.push_back(job);
    }
    waiting_ = std::move(still);
  }
  /// Submitted jobs that wait to be ready, and are not held.
  std::vector<int> not_held() const {
    std::vector<int> found;
    for (const int job : waiting_)
      if (!of(job).held) found.push_back(job);
    return found;
  }

  /// As many tasks of its array run as may.
  bool array_full(int job) const {
    if (scenario_.array(job) < 0) return false;
    const int limit = scenario_.job(job).conditions.array_limit;
    return limit > 0 && array_running(job) >= limit;
  }

  /// Tasks of the job's array that run.
  int array_running(int job) const { return array_running_[scenario_.array(job)]; }

  /// A task of an array starts or is over.
  void count(int job, int tasks) {
    const int array = scenario_.array(job);
    if (array >= 0) array_running_[array] += tasks;
  }

 private:
  struct State {
    Second begin = 0;
    bool submitted = false, held = false, failed = false;
    bool free = false;  // of other jobs, as of the last call of admit
  };
  State& of(int job) { return states_[job]; }
  const State& of(int job) const { return states_[job]; }
  bool is_ready(int job, Second now) const {
    const State& state = of(job);
    return !state.held && state.begin <= now && independent(job);
  }

  bool independent(int job) const {
    const std::vector<Dependency>& after = scenario_.job(job).conditions.after;
    return std::all_of(after.begin(), after.end(),
                       [&](const Dependency& one) { return met(one); }) &&
           alone(job);
  }

  // After a job whose node failed is after it has run again.
  bool met(const Dependency& dependency) const {
    const std::vector<int>& jobs = dependency.jobs;
    const auto all = [&](auto is) { return std::all_of(jobs.begin(), jobs.end(), is); };
    if (dependency.kind == Dependency::Kind::after)
      return all([&](int job) { return allocations_.started(job); });
    if (!all([&](int job) { return allocations_.cleaned(job); })) return false;
    const bool failed =
        std::any_of(jobs.begin(), jobs.end(), [&](int job) { return of(job).failed; });
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
  bool alone(int job) const {
    const int group = scenario_.job(job).conditions.singleton;
    if (group < 0) return true;
    const std::vector<int>& jobs = singletons_[group];
    return std::none_of(jobs.begin(), jobs.end(), [&](int other) {
      if (other == job || allocations_.cleaned(other)) return false;
      return allocations_.started(other) || (other < job && of(other).submitted);
    });
  }

  const Scenario& scenario_;
  const Allocations& allocations_;
  std::vector<State> states_;
  std::vector<int> waiting_;                  // increasing
  std::vector<int> array_running_;            // tasks by array
  std::vector<std::vector<int>> singletons_;  // jobs by their number
};

}  // namespace cosched::slurm
