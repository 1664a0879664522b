// Tasks that run at the same time and slow each other.
#pragma once

#include <vector>

#include "cosched/core/sharing.hpp"

namespace cosched {

/// The running tasks with their remaining work: rates are constant between two events.  Without
/// `sharing` no task slows another.
class RunningSet {
 public:
  explicit RunningSet(const Sharing* sharing) : sharing_(sharing) {}

  void clear() {
    runs_.clear();
    states_.clear();
  }
  int size() const { return static_cast<int>(states_.size()); }
  const std::vector<RunningTask>& set() const { return runs_; }

  /// Adds a task at the time `now`, which is not before any event so far.  O(k^2).
  void start(const RunningTask& run, double now);

  /// When the next task ends; infinite where none runs.
  double next_end() const;

  struct EndedTask {
    int task;
    double end;
  };
  /// Removes the tasks that end at next_end(), up to rounding, and computes the rates of the others
  /// from then on.  O(k^2).  Throws SolverError where no task runs: a loop that waits for an end
  /// would wait for ever.
  const std::vector<EndedTask>& finish();

 private:
  struct TaskProgress {
    double remaining;  // seconds alone, at `since`
    double since;
    double factor;  // from then on
    double end;     // if nothing changes
  };
  // Computes the factors and ends of all tasks from `now` on.
  void update_factors(double now);

  const Sharing* sharing_;
  std::vector<RunningTask> runs_;
  std::vector<TaskProgress> states_;    // of runs_
  std::vector<EndedTask> ended_tasks_;  // by the last finish()
};

}  // namespace cosched
