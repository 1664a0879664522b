// What every schedule of at most a given makespan T looks like: when a task can run at the
// earliest and at the latest, and on which types.
//
//   head_j   no schedule starts task j before;
//   tail_j   at least this much time lies between the end of j and T;
//   (j, q)   is open unless head_j + p_jq + tail_j > T: then no schedule runs j on q.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

class TimeWindows : public OpenTypes {
 public:
  /// All pairs of finite time are open, heads and tails are 0.
  TimeWindows(const Instance& instance, double makespan)
      : OpenTypes(instance, makespan),
        head_(instance.tasks(), 0.0),
        tail_(instance.tasks(), 0.0),
        least_(instance.tasks()),
        load_heads_(instance.graph()) {
    for (int task = 0; task < instance.tasks(); ++task) refresh(task);
  }

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
  bool prune(double slack) {
    for (bool changed = true; changed;) {
      check_interrupt();
      changed = false;
      relax_heads();
      relax_tails();
      if (!close_what_does_not_fit(slack, changed)) return false;
    }
    return true;
  }

  /// Closes a pair; prune() before the next question.
  void close(int task, int type) {
    if (close_type(task, type)) refresh(task);
  }

  /// Raises the heads of all tasks with more than one predecessor to their load heads
  /// (open_types.hpp), in topological order.  With `backward` the tails, by the descendants.  True:
  /// one was raised by more than a relative 1e-9 of T.  O(n (n + e)) at worst.
  bool raise(const std::vector<double>& weights, bool backward) {
    const std::vector<double> work = least_work(*this, weights);
    std::vector<double>& bound = backward ? tail_ : head_;
    bool any = false;
    std::vector<int> order = instance().graph().order();
    if (backward) std::reverse(order.begin(), order.end());
    Poll poll;
    for (const int task : order) {
      const TaskGraph::Range direct = load_heads_.before(task, backward);
      for (const int other : direct)
        bound[task] = std::max(bound[task], bound[other] + least_[other]);
      if (direct.size() < 2) continue;
      const std::int64_t at = load_heads_.steps();
      const double found = load_heads_.of(task, work, bound, backward);
      poll.count(load_heads_.steps() - at);
      any = any || found > bound[task] + 1e-9 * makespan();
      bound[task] = std::max(bound[task], found);
    }
    return any;
  }

 private:
  void relax_heads() {
    for (const int task : instance().graph().order()) {
      double head = head_[task];
      for (const int before : instance().graph().predecessors(task))
        head = std::max(head, head_[before] + least_[before]);
      head_[task] = head;
    }
  }

  void relax_tails() {
    const std::vector<int>& order = instance().graph().order();
    for (auto task = order.rbegin(); task != order.rend(); ++task) {
      double tail = tail_[*task];
      for (const int after : instance().graph().successors(*task))
        tail = std::max(tail, tail_[after] + least_[after]);
      tail_[*task] = tail;
    }
  }

  // False: a task has no type left.  `shorter`: a task has lost its fastest type.
  bool close_what_does_not_fit(double slack, bool& shorter) {
    const double limit = makespan() * (1 + slack);
    for (int task = 0; task < instance().tasks(); ++task) {
      const double* p = instance().row(task);
      const double room = limit - head_[task] - tail_[task];
      const double least = least_[task];
      for (int type = 0; type < instance().types(); ++type)
        if (open(task, type) && p[type] > room) close(task, type);
      if (least_[task] == kInfinity) return false;
      shorter = shorter || least_[task] > least;
    }
    return true;
  }

  void refresh(int task) {
    const double* p = instance().row(task);
    least_[task] = kInfinity;
    for (int type = 0; type < instance().types(); ++type)
      if (open(task, type)) least_[task] = std::min(least_[task], p[type]);
  }

  std::vector<double> head_, tail_, least_;
  LoadHeads load_heads_;
};

}  // namespace cosched::dags::proof
