// Directed acyclic graph of tasks 0..n-1 in compressed form.
#pragma once

#include <utility>
#include <vector>

namespace cosched {

using Edge = std::pair<int, int>;  // (predecessor, successor)

/// Flow on the precedence from -> to.
struct EdgeFlow {
  int from;
  int to;
  double amount;
};

/// Immutable DAG.  Invariant: edges join different tasks of 0..n-1, no cycle.
class TaskGraph {
 public:
  /// Duplicate edges are kept once.  Throws InvalidInstance on an edge out of
  /// range, a loop, or a cycle (it names the tasks of one).  O((n + e) log n).
  TaskGraph(int tasks, const std::vector<Edge>& edges);

  struct TaskRange {
    const int* first;
    const int* last;
    const int* begin() const { return first; }
    const int* end() const { return last; }
    int size() const { return static_cast<int>(last - first); }
  };

  int tasks() const { return static_cast<int>(successor_begin_.size()) - 1; }
  int edges() const { return static_cast<int>(successors_.size()); }
  /// Increasing task numbers.
  TaskRange successors(int task) const { return range(successor_begin_, successors_, task); }
  TaskRange predecessors(int task) const { return range(predecessor_begin_, predecessors_, task); }
  /// Topological order; among tasks whose predecessors are done, the lowest number first.
  const std::vector<int>& order() const { return order_; }

 private:
  static TaskRange range(const std::vector<int>& begin, const std::vector<int>& items, int task) {
    return {items.data() + begin[task], items.data() + begin[task + 1]};
  }
  void sort_topologically();

  std::vector<int> successor_begin_;  // by task: its first one in successors_
  std::vector<int> successors_;
  std::vector<int> predecessor_begin_;  // by task: its first one in predecessors_
  std::vector<int> predecessors_;
  std::vector<int> order_;
};

}  // namespace cosched
