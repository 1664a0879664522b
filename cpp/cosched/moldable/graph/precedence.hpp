// The graph of an instance, and longest paths in it.
#pragma once

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::graph {

/// The instance's graph; where it has none, jobs that do not wait for each other.
class Precedence {
 public:
  explicit Precedence(const Instance& instance)
      : edgeless_graph_(instance.graph() ? 0 : instance.jobs(), {}), graph_(instance.graph()) {}
  const TaskGraph& operator*() const { return graph_ ? *graph_ : edgeless_graph_; }
  const TaskGraph* operator->() const { return &**this; }

 private:
  TaskGraph edgeless_graph_;
  const TaskGraph* graph_;
};

/// Seconds of the longest path from the start of each job on.  O(n + e).
std::vector<double> bottom_levels(const TaskGraph& graph, const std::vector<double>& duration);
/// Earliest start of each job, after its release and the jobs before it.  O(n + e).
std::vector<double> heads(const TaskGraph& graph, const std::vector<double>& duration,
                          const std::vector<double>& release);

}  // namespace cosched::moldable::graph
