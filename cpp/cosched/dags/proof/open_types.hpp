// Which pairs (task, type) are still open at a guess T of the makespan: what both kinds of windows
// (time_windows.hpp, transfer_windows.hpp) have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cosched/core/task_graph.hpp"
#include "cosched/core/times.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

/// A task on a type.
struct Pair {
  int task, type;
};

class OpenTypes {
 public:
  /// All pairs of finite time.
  OpenTypes(const Instance& instance, double makespan);
  /// What is open at a longer one.
  OpenTypes(const OpenTypes& longer, double makespan);

  const Instance& instance() const { return *instance_; }
  double makespan() const { return makespan_; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// (n, Q): 1 where a type is the only one of a task, 0 everywhere else.
  Table decided() const;

 protected:
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * instance_->types() + type;
  }
  /// Whether each type of a task is open.
  const char* open_row(int task) const { return open_.data() + pair(task, 0); }
  /// False: it was closed before.
  bool close_type(int task, int type);
  /// Takes that back.
  void open_type(int task, int type);

 private:
  void refresh(int task);

  const Instance* instance_;
  double makespan_;
  std::vector<char> open_;
  std::vector<int> only_type_;
  int undecided_ = 0;
};

// Load heads: when a task can start at the earliest because of all that its ancestors have to do.
//
// With weights w >= 0 of the types, sum 1, a schedule of at most T spends w_q / m_q of each second that
// a unit of type q works: at most one second a second.  So those ancestors of a task that start at h or
// later need, after h, at least the sum over them of (min over open q of w_q p_jq / m_q).

/// What cannot begin before `head` and then takes `work`.
struct Load {
  double head, work;
};

/// Time until all are done one after the other; sorts them by falling heads.
double all_done(std::vector<Load>& loads);

/// Finds the load heads of one task after the other; owns what that needs of memory.
class LoadHeads {
 public:
  explicit LoadHeads(const TaskGraph& graph) : graph_(&graph), seen_(graph.tasks(), 0) {}

  /// The best that the ancestors (descendants, if backward) of the task give.  O(n log n + e).
  double of(int task, const std::vector<double>& work, const std::vector<double>& head,
            bool backward);
  TaskGraph::Range before(int task, bool backward) const {
    return backward ? graph_->successors(task) : graph_->predecessors(task);
  }
  /// Of about a nanosecond, so far.
  std::int64_t steps() const { return steps_; }

 private:
  const TaskGraph* graph_;
  std::vector<int> seen_, stack_;
  std::vector<Load> ancestors_;
  int stamp_ = 0;
  std::int64_t steps_ = 0;
};

/// Of each task: min over open q of w_q p_jq / m_q.
std::vector<double> least_work(const OpenTypes& open, const std::vector<double>& weights);

/// The weights that a refuter tries: each type alone if asked for (or if it is the only one), and those
/// of the loads in LP*.
std::vector<std::vector<double>> load_mixtures(std::vector<double> loads, bool each_type);

/// Raises heads and tails by each of the mixtures, and prunes after each; where there is `each_type` all
/// of that twice.  Appends a stage for each that raised something.  True: nothing is left.
template <class Windows, class Stage, class Prune>
bool raise_heads(Windows& windows, const std::vector<std::vector<double>>& mixtures, bool each_type,
                 std::vector<Stage>& stages, const Prune& prune) {
  for (int repeat = 0; repeat < (each_type ? 2 : 1); ++repeat) {
    bool any = false;
    for (const std::vector<double>& mixture : mixtures) {
      const bool heads = windows.raise(mixture, false), tails = windows.raise(mixture, true);
      if (!heads && !tails) continue;
      stages.emplace_back().raise = mixture;
      if (!prune(windows)) return true;
      any = true;
    }
    if (!any) break;
  }
  return false;
}

}  // namespace cosched::dags::proof
