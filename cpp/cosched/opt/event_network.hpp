// The contracted event graph of a task graph, in project scheduling an activity-on-arc network.  A
// task becomes an arc from the event "it may start" to the event "it has ended"; precedences that
// do not merge two events become arcs of length 0.
#pragma once

#include "cosched/core/task_graph.hpp"

namespace cosched::opt {

/// Its longest paths have the lengths of those of the task graph, for all durations of the tasks.
/// Nodes are in topological order: node 0 = begin of the project, last node = its end.
struct EventNetwork {
  int nodes = 0;
  std::vector<int> start, end;             ///< events of each task
  std::vector<std::pair<int, int>> links;  ///< arcs of length 0
};

/// Builds the network with these contractions: precedences implied by a third task are dropped;
/// tasks with the same predecessors share their start, tasks with the same successors their end; an
/// end that leads to one start only, or a start that comes from one end only, is merged with it.
/// O(n + sum over edges of the predecessors' degrees).
EventNetwork make_event_network(const TaskGraph& graph);

/// The flow on the edges of the task graph that corresponds to a flow on the network: flow that
/// arrives at an event is passed on to the arcs that leave it.  The difference to task_flow is the
/// flow from the begin of the project to a task, and from a task to the end of the project.
std::vector<EdgeFlow> expand_flow(const EventNetwork& network, const std::vector<double>& task_flow,
                                  const std::vector<double>& link_flow);

}  // namespace cosched::opt
