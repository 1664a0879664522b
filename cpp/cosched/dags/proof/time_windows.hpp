// What every schedule of at most a given makespan T looks like: when a task can run at the
// earliest and at the latest, and on which types.
//
//   head_j   no schedule starts task j before;
//   tail_j   at least this much time lies between the end of j and T;
//   (j, q)   is open unless head_j + p_jq + tail_j > T: then no schedule runs j on q.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

class TimeWindows {
 public:
  /// All pairs of finite time are open, heads and tails are 0.
  TimeWindows(const Instance& instance, double makespan);

  const Instance& instance() const { return *instance_; }
  double makespan() const { return makespan_; }
  double head(int task) const { return head_[task]; }
  double tail(int task) const { return tail_[task]; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  /// Least time of a task over its open types; infinite where there is none.
  double least(int task) const { return least_[task]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// Longest paths of least times, and pairs that do not fit, until nothing changes.  False: a
  /// task has no type left, so no schedule is as short as T.  `slack`: relative to T, what a pair
  /// must exceed T by.
  bool prune(double slack);

  /// Closes a pair; prune() before the next question.
  void close(int task, int type);

  /// Load heads: with weights w >= 0 of the types, sum 1, the ancestors of `task` whose heads are
  /// at least h take at least
  ///   h + sum over them of (min over open q of w_q p_jq / m_q)
  /// until `task` can start.  Raises the heads of all tasks with more than one predecessor, in
  /// topological order.  With `backward` the tails, by the descendants.  True: one was raised by
  /// more than a relative 1e-9 of T.  O(n (n + e)) at worst; n^2 counts as `steps`.
  bool raise(const std::vector<double>& weights, bool backward);

  /// Steps of about a nanosecond that all this has taken.
  std::int64_t steps() const { return steps_; }

 private:
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * instance_->types() + type;
  }
  void relax_heads();
  void relax_tails();
  bool close_what_does_not_fit(double slack, bool& shorter);
  void refresh(int task);
  TaskGraph::Range before(int task, bool backward) const {
    return backward ? instance_->graph().successors(task) : instance_->graph().predecessors(task);
  }
  double raised(int task, const std::vector<double>& work, bool backward);

  const Instance* instance_;
  double makespan_;
  std::vector<double> head_, tail_, least_;
  std::vector<char> open_;
  std::vector<int> only_type_;
  int undecided_ = 0;
  std::int64_t steps_ = 0;
  // Of raise(): the ancestors found, by decreasing head.
  std::vector<int> seen_, stack_;
  std::vector<std::pair<double, double>> ancestors_;  // (head, work)
  int stamp_ = 0;
};

}  // namespace cosched::dags::proof
