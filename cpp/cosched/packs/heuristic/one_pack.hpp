// Optimal schedule of one given pack (section 4.2 of the paper).
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// Algorithm 4.2: every task starts on one processor; procs - |tasks| times the task with the
/// longest time gets one more (ties: the lower task number).  At the end each task keeps of its
/// processors those that it uses.
///
/// Requires tasks distinct, not empty and in 0..n-1, 1 <= procs <= p (InvalidInstance), and that
/// the fewest processors on which the tasks can run are at most `procs` (InfeasibleError).
/// Guarantees the least possible longest time; returns sigma in the order of `tasks`.
/// O(procs log |tasks|).
std::vector<int> one_pack(const Times& times, const std::vector<int>& tasks, int procs);

/// The same optimum by the paper's dynamic programme over (first i tasks, q processors):
/// c(i, q) = min over q' of max(c(i-1, q-q'), t_i(q')), t_i(q') as measured.  Processors may stay
/// idle.  Same errors.
/// O(|tasks| procs^2) time, O(|tasks| procs) memory.
std::vector<int> one_pack_dynamic_programme(const Times& times, const std::vector<int>& tasks,
                                            int procs);

/// Algorithm 4.2 for callers that solve many packs: no checks, memory kept between calls.
class OnePackSolver {
 public:
  explicit OnePackSolver(const Times& times) : times_(&times) {}

  /// Returns the pack's cost, infinite where the tasks do not fit on `procs`.  Requires the rest of
  /// what one_pack requires, unchecked.
  double solve(const int* tasks, int count, int procs);

  /// The counts of the last call, in the order of its tasks; each task uses times.used() of them.
  const std::vector<int>& procs() const { return procs_; }

 private:
  struct HeapTask {
    double time;
    int task;
    int place;  // in the caller's list
  };
  static bool precedes(const HeapTask& a, const HeapTask& b) {
    return a.time > b.time || (a.time == b.time && a.task < b.task);
  }
  void sift_down(int hole, HeapTask node);

  const Times* times_;
  std::vector<HeapTask> heap_;
  std::vector<int> procs_;
  Poll poll_;
};

}  // namespace cosched::packs::heuristic
