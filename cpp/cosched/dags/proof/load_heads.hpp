// Load heads: the earliest start of a task because of the work that its ancestors have to do.
//
// With weights w >= 0 of the types, sum 1, a schedule of at most T spends w_q / m_q of each second
// that a unit of type q works, which is at most one second of each second of the schedule.  So the
// ancestors of a task that start at h or later need, after h, at least the sum over them of
// (min over open q of w_q p_jq / m_q).
#pragma once

#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

/// An ancestor that cannot begin before `head` and then takes `work`, both in seconds.
struct AncestorLoad {
  double head, work;
};

/// When all loads are done, one after the other, at the earliest.  Sorts them by decreasing heads.
double completion_time(std::vector<AncestorLoad>& loads);

/// Computes load heads; keeps its memory from task to task.
class LoadHeads {
 public:
  explicit LoadHeads(const TaskGraph& graph) : graph_(&graph), visit_stamp_(graph.tasks(), 0) {}

  /// The load head of a task by its ancestors (by its descendants if `backward`).  `work` and
  /// `head` of each task, seconds.  O(n log n + e).
  double load_head(int task, const std::vector<double>& work, const std::vector<double>& head,
                   bool backward);

  TaskGraph::TaskRange preceding_tasks(int task, bool backward) const {
    return backward ? graph_->successors(task) : graph_->predecessors(task);
  }
  /// Work so far, in steps of about a nanosecond.
  std::int64_t steps() const { return steps_; }

 private:
  const TaskGraph* graph_;
  std::vector<std::int64_t> visit_stamp_;
  std::vector<int> stack_;
  std::vector<AncestorLoad> ancestors_;
  std::int64_t stamp_ = 0;
  std::int64_t steps_ = 0;
};

/// The work of each task: min over open q of w_q p_jq / m_q.
std::vector<double> least_work(const OpenTypes& open, const std::vector<double>& weights);

/// The mixtures of weights that a refuter tries: each type alone, if `tries_each_type` or if there
/// is one type only, and the weights of the loads in LP*.
std::vector<std::vector<double>> load_mixtures(std::vector<double> loads, bool tries_each_type);

/// Raises heads and tails by each mixture, and prunes after each; goes through all mixtures twice
/// if `tries_each_type`.  Appends a stage to the proof for each mixture that has raised something.
/// Returns true where pruning leaves a task without a type: T is refuted.
template <class Windows, class Stage, class Prune>
bool tighten_heads_by_load(Windows& windows, const std::vector<std::vector<double>>& mixtures,
                           bool tries_each_type, std::vector<Stage>& stages, const Prune& prune) {
  for (int repeat = 0; repeat < (tries_each_type ? 2 : 1); ++repeat) {
    bool any_tightened = false;
    for (const std::vector<double>& mixture : mixtures) {
      const bool tightens_heads = windows.tighten_by_load(mixture, false);
      const bool tightens_tails = windows.tighten_by_load(mixture, true);
      if (!tightens_heads && !tightens_tails) continue;
      stages.emplace_back().load_weights = mixture;
      if (!prune(windows)) return true;
      any_tightened = true;
    }
    if (!any_tightened) break;
  }
  return false;
}

}  // namespace cosched::dags::proof
