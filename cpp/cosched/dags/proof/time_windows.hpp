// Windows of the tasks in every schedule of at most T: their earliest starts and latest ends, and
// the types on which they can run.
//
//   head_j   no schedule starts task j before;
//   tail_j   at least this much time lies between the end of j and T;
//   (j, q)   is open unless head_j + p_jq + tail_j > T: then no schedule runs j on q.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/proof/load_heads.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

class TimeWindows : public OpenTypes {
 public:
  /// Every type that can run a task is open, heads and tails are 0.
  TimeWindows(const Instance& instance, double makespan);

  double head(int task) const { return head_[task]; }
  double tail(int task) const { return tail_[task]; }
  /// The same for any type: heads and tails do not depend on it here.
  double head(int task, int) const { return head_[task]; }
  double tail(int task, int) const { return tail_[task]; }
  /// Least time of a task over its open types; infinite where there is none.
  double least_time(int task) const { return least_time_[task]; }

  /// Raises heads and tails to longest paths of least times and closes types that do not fit, until
  /// nothing changes.  Returns false where a task has no type left: then no schedule is as short as
  /// T. A type is closed where it exceeds T by more than the share `tolerance` of T.  O(n Q + e) a
  /// round.
  bool prune(double tolerance);

  /// Closes a type of a task; heads, tails and other types follow at the next prune().
  void close_type(int task, int type) {
    if (mark_closed(task, type)) update_least_time(task);
  }

  /// Raises the heads of all tasks with more than one predecessor to their load heads
  /// (load_heads.hpp), in topological order; with `backward` the tails, by the descendants.
  /// Returns whether one has risen by more than 1e-9 T.  O(n (n + e)) at worst.
  bool tighten_by_load(const std::vector<double>& weights, bool backward);

 private:
  void propagate_heads();
  void propagate_tails();
  bool close_unfit_types(double tolerance, bool& lost_fastest_type);
  void update_least_time(int task);

  std::vector<double> head_, tail_, least_time_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
