// Which submitted jobs are looked at: begin time, hold, dependencies, singletons, tasks of an array
// (RULES.md 9).
#pragma once

#include <vector>

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class Readiness {
 public:
  /// Requires that both outlive it.
  Readiness(const Scenario& scenario, const Allocations& allocations);

  /// A submitted job: whether it is ready at once.  If not, it waits to be ready.
  bool submit(int job, Second now);
  /// It was held, and is no more.
  void release(int job) { of(job).held = false; }
  /// It waits again, until `begin` at the earliest.
  void requeue(int job, Second begin);
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
  std::vector<int> not_held() const;
  /// As many tasks of its array run as may.
  bool array_full(int job) const;
  /// Tasks of the job's array that run.
  int array_running(int job) const;
  /// A task of an array starts or is over.
  void count(int job, int tasks);

 private:
  struct State {
    Second begin = 0;
    bool submitted = false, held = false, failed = false;
    bool free = false;  // of other jobs, as of the last call of admit
  };
  State& of(int job) { return states_[static_cast<std::size_t>(job)]; }
  const State& of(int job) const { return states_[static_cast<std::size_t>(job)]; }
  bool is_ready(int job, Second now) const;
  bool independent(int job) const;
  bool met(const Dependency& dependency) const;
  bool alone(int job) const;

  const Scenario& scenario_;
  const Allocations& allocations_;
  std::vector<State> states_;
  std::vector<int> waiting_;                  // increasing
  std::vector<int> array_running_;            // tasks by array
  std::vector<std::vector<int>> singletons_;  // jobs by their number
};

}  // namespace cosched::slurm
