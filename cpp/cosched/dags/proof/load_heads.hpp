// Load heads: when a task can start at the earliest because of all that its ancestors have to do.
//
// With weights w >= 0 of the types, sum 1, a schedule of at most T spends w_q / m_q of each second that
// a unit of type q works: at most one second a second.  So those ancestors of a task that start at h or
// later need, after h, at least the sum over them of (min over open q of w_q p_jq / m_q).
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/task_graph.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

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
