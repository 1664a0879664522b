// k-in-p-CoSchedule (Aupy, Shantharam, Benoit, Robert, Raghavan 2013, section 3): n tasks, p
// processors, packs of at most k tasks.
//
// Notation = code: n = tasks(), p = procs(), k = max_tasks(), t_i(q) = times()(i, q).
#pragma once

#include "cosched/core/times.hpp"

namespace cosched::packs {

/// Immutable.  Invariants: 1 <= max_tasks() <= min(n, p), and the work of all tasks together, on
/// any numbers of processors, is a finite double, so that no solver can overflow.  Monotony is
/// not an invariant: whoever needs property (1) or (2) checks it.
class Instance {
 public:
  /// Throws InvalidInstance when max_tasks < 1 or n p max t_i(q) overflows.  A max_tasks above
  /// min(n, p) is clamped: a pack can never hold more tasks than that.  O(n p).
  Instance(Times times, int max_tasks);

  const Times& times() const { return times_; }
  int tasks() const { return times_.tasks(); }
  int procs() const { return times_.procs(); }
  int max_tasks() const { return max_tasks_; }

 private:
  Times times_;
  int max_tasks_;
};

}  // namespace cosched::packs
