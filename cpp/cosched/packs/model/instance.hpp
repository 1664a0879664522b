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
  Instance alone() const;

 private:
  Times times_;
  int max_tasks_;
  std::shared_ptr<const Sharing> sharing_;
};

/// Throws InvalidInstance where tasks share something, which the function of that name does not
/// read: its packs would not fit.  The functions of packs::solve take every instance.
void require_unshared(const Instance& instance, const char* function);

/// min over q of w_i(q).  O(p).
double least_work(const Times& times, int task);

/// The fewest processors on which a task takes at most `length`; p + 1 where there are none.  O(log
/// p).
int fewest_within(const Times& times, int task, double length);

// Two lower bounds on the cost of every co-schedule, for any table.  Neither is ever above the
// optimum: each is rounded down by more than its own floating-point error.

/// sum_i min_q w_i(q) / p: a pack of cost c has p c of processor time.  O(n p).
double area_bound(const Instance& instance);

/// Let s_1 >= s_2 >= ... be the least times min_q t_i(q), sorted.  Of the bk + 1 longest tasks one
/// is not in the b costliest packs, so the pack of rank b + 1 costs at least s_{bk+1}: the bound
/// is s_1 + s_{k+1} + s_{2k+1} + ...  O(n log n).
double longest_bound(const Instance& instance);

}  // namespace cosched::packs
