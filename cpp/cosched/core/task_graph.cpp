#include "cosched/core/task_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "cosched/core/errors.hpp"
#include "cosched/core/found.hpp"

namespace cosched {
namespace {

// Of a cycle, in a message.
constexpr std::size_t kMaxPrintedTasks = 8;

// One cycle among the tasks that a topological sort could not remove: from such
// a task, always step to an unremoved predecessor until a task repeats.
std::string describe_cycle(const TaskGraph& graph, const std::vector<int>& indegree) {
  const auto is_unremoved = [&](int task) { return indegree[task] > 0; };
  int task = 0;
  while (!is_unremoved(task)) ++task;
  std::vector<int> path;
  std::vector<int> path_position(graph.tasks(), -1);  // by task
  while (path_position[task] < 0) {
    path_position[task] = static_cast<int>(path.size());
    path.push_back(task);
    const TaskGraph::TaskRange predecessors = graph.predecessors(task);
    const auto place = std::find_if(predecessors.begin(), predecessors.end(), is_unremoved);
    task = *require_found(place, predecessors.end(), "a predecessor on a cycle");
  }
  std::vector<int> cycle(path.begin() + path_position[task], path.end());
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  std::string text;
  const std::size_t printed_tasks = std::min(cycle.size(), kMaxPrintedTasks);
  for (std::size_t k = 0; k < printed_tasks; ++k) text += std::to_string(cycle[k]) + " -> ";
  if (printed_tasks < cycle.size()) text += "... -> ";
  return text + std::to_string(cycle.front());
}

}  // namespace

TaskGraph::TaskGraph(int tasks, const std::vector<Edge>& edges) {
  if (tasks < 0) throw InvalidInstance("a task graph with a negative number of tasks");
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [from, to] = edges[e];
    const std::string name = "edges[" + std::to_string(e) + "] = (" + std::to_string(from) + ", " +
                             std::to_string(to) + ")";
    if (from < 0 || from >= tasks || to < 0 || to >= tasks)
      throw InvalidInstance(name + ": expected task numbers in 0.." + std::to_string(tasks - 1));
    if (from == to) throw InvalidInstance(name + ": a task cannot precede itself (cycle)");
  }
  std::vector<Edge> sorted_edges = edges;
  std::sort(sorted_edges.begin(), sorted_edges.end());
  sorted_edges.erase(std::unique(sorted_edges.begin(), sorted_edges.end()), sorted_edges.end());

  successor_begin_.assign(tasks + 1, 0);
  predecessor_begin_.assign(tasks + 1, 0);
  for (const auto& [from, to] : sorted_edges) {
    ++successor_begin_[from + 1];
    ++predecessor_begin_[to + 1];
  }
  for (int task = 0; task < tasks; ++task) {
    successor_begin_[task + 1] += successor_begin_[task];
    predecessor_begin_[task + 1] += predecessor_begin_[task];
  }
  successors_.resize(sorted_edges.size());
  predecessors_.resize(sorted_edges.size());
  std::vector<int> next_successor(successor_begin_.begin(), successor_begin_.end() - 1);
  std::vector<int> next_predecessor(predecessor_begin_.begin(), predecessor_begin_.end() - 1);
  for (const auto& [from, to] : sorted_edges) {  // by (from, to), so that both lists are increasing
    successors_[next_successor[from]] = to;
    ++next_successor[from];
    predecessors_[next_predecessor[to]] = from;
    ++next_predecessor[to];
  }
  sort_topologically();
}

void TaskGraph::sort_topologically() {
  const int n = tasks();
  std::vector<int> indegree(n);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int task = 0; task < n; ++task) {
    indegree[task] = predecessors(task).size();
    if (indegree[task] == 0) ready.push(task);
  }
  order_.reserve(n);
  while (!ready.empty()) {
    const int task = ready.top();
    ready.pop();
    order_.push_back(task);
    for (const int successor : successors(task)) {
      --indegree[successor];
      if (indegree[successor] == 0) ready.push(successor);
    }
  }
  if (static_cast<int>(order_.size()) < n)
    throw InvalidInstance("edges form a cycle: " + describe_cycle(*this, indegree));
}

}  // namespace cosched
