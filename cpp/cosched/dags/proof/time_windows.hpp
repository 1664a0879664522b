// What every schedule of at most a given makespan T looks like: when a task can run at the
// earliest and at the latest, and on which types.
//
//   head_j   no schedule starts task j before;
//   tail_j   at least this much time lies between the end of j and T;
//   (j, q)   is open unless head_j + p_jq + tail_j > T: then no schedule runs j on q.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

class TimeWindows : public OpenTypes {
 public:
  /// All pairs of finite time are open, heads and tails are 0.
  TimeWindows(const Instance& instance, double makespan);

  double head(int task) const { return head_[task]; }
  double tail(int task) const { return tail_[task]; }
  /// The same, whatever the type.
  double head(int task, int) const { return head_[task]; }
  double tail(int task, int) const { return tail_[task]; }
  /// Least time of a task over its open types; infinite where there is none.
  double least(int task) const { return least_[task]; }

  /// Longest paths of least times, and pairs that do not fit, until nothing changes.  False: a
  /// task has no type left, so no schedule is as short as T.  `slack`: relative to T, what a pair
  /// must exceed T by.  O(n Q + e) a round.
  bool prune(double slack);

  /// Closes a pair; prune() before the next question.
  void close(int task, int type);

  /// Raises the heads of all tasks with more than one predecessor to their load heads
  /// (open_types.hpp), in topological order.  With `backward` the tails, by the descendants.  True:
  /// one was raised by more than a relative 1e-9 of T.  O(n (n + e)) at worst.
  bool raise(const std::vector<double>& weights, bool backward);

 private:
  void relax_heads();
  void relax_tails();
  bool close_what_does_not_fit(double slack, bool& shorter);
  void refresh(int task);

  std::vector<double> head_, tail_, least_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
