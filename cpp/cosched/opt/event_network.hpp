// The event graph of a task graph, contracted: what project scheduling calls an
// activity-on-arc network.  A task becomes an arc from the event "it may start" to the event
// "it has ended"; precedences that do not merge two events become arcs of length 0.
#pragma once

#include "cosched/core/task_graph.hpp"

namespace cosched::opt {

/// Longest paths in it are those of the task graph, for every vector of durations.
/// Nodes are in topological order: node 0 = begin of the project, last node = its end.
struct EventNetwork {
  int nodes = 0;
  std::vector<int> start, end;             // events of each task
  std::vector<std::pair<int, int>> links;  // arcs of length 0
};

/// Contractions: precedences implied by a third task are dropped; tasks with the same
/// predecessors share their start, tasks with the same successors their end; an end that
/// leads to one start only, or a start that comes from one end only, is merged with it.
/// O(n + sum over edges of the predecessors' degrees).
EventNetwork make_event_network(const TaskGraph& graph);

/// Length of the longest path.  O(nodes + n + links).
class PathLength {
 public:
  explicit PathLength(const EventNetwork& network);
  double operator()(const std::vector<double>& duration) const;

 private:
  struct Arc {
    int from, to, task;  // task -1: a link
  };
  int nodes_;
  std::vector<Arc> arcs_;  // by head, so that a pass from front to back is a longest path
};

/// The flow on the task graph's edges that a flow on the network stands for: what arrives at
/// an event is passed on to what leaves it.  What the project's begin sends to a task and
/// what a task sends to the project's end is the rest of task_flow.
std::vector<EdgeFlow> expand_flow(const EventNetwork& network, const std::vector<double>& task_flow,
                                  const std::vector<double>& link_flow);

}  // namespace cosched::opt
