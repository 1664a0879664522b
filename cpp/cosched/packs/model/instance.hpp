// k-in-p-CoSchedule (Aupy, Shantharam, Benoit, Robert, Raghavan 2013, section 3): n tasks, p
// processors, packs of at most k tasks.
//
// Notation = code: n = tasks(), p = procs(), k = max_tasks(), t_i(q) = times()(i, q): the least
// time on at most q processors, so property (1) always holds.  A co-schedule that is returned has
// the counts that attain it, times().used(i, q).
//
// What codes share (core/sharing.hpp) is part of an instance where it is given: the tasks of a pack
// must fit together, and end by the progressive law.  Algorithms that do not read sharing() solve
// the instance that alone() gives, whose optimum is a lower bound.
#pragma once

#include "cosched/core/sharing.hpp"
#include "cosched/core/times.hpp"

namespace cosched::packs {

/// Immutable.  Invariants: 1 <= max_tasks() <= min(n, p), and the work of all tasks together, on
/// any numbers of processors on which they can run, is a finite double, so that no solver can
/// overflow.  Property (2), work that does not fall with processors, is not an invariant; all that
/// needs it is the guarantee of pack_approx.
class Instance {
 public:
  /// Throws InvalidInstance when max_tasks < 1 or n p times the longest finite time overflows.  A
  /// max_tasks above min(n, p) is clamped: a pack can never hold more tasks than that.  O(n p).
  /// Throws InvalidInstance, too, where `sharing` is of other tasks, or a task fits on no count.
  Instance(Times times, int max_tasks, std::shared_ptr<const Sharing> sharing = nullptr);

  const Times& times() const { return times_; }
  int tasks() const { return times_.tasks(); }
  int procs() const { return times_.procs(); }
  int max_tasks() const { return max_tasks_; }

  /// Null where tasks share nothing.
  const Sharing* sharing() const { return sharing_.get(); }
  /// The same tasks as if nothing were shared, on the counts on which each fits by itself.  O(n p).
  Instance without_sharing() const;

 private:
  Times times_;
  int max_tasks_;
  std::shared_ptr<const Sharing> sharing_;
};

/// Throws InvalidInstance where tasks share something, which the function of that name does not
/// read: its packs would not fit.  The functions of packs::solve take every instance.
void require_unshared(const Instance& instance, const char* function);

}  // namespace cosched::packs
