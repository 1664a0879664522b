#include "cosched/dags/list/cpop.hpp"

#include <queue>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::list {
namespace {

// Mean cost of the edge from the k-th predecessor, and of the edge to the k-th successor.
double cost_from_predecessor(const Instance& instance, int task, int k) {
  const Transfers& transfers = instance.transfers();
  return transfers.is_free() ? 0 : transfers.mean_cost(transfers.in_edges(task)[k]);
}
double cost_to_successor(const Instance& instance, int task, int k) {
  const Transfers& transfers = instance.transfers();
  return transfers.is_free() ? 0 : transfers.mean_cost(transfers.first_out_edge(task) + k);
}

// Longest path to the start of each task.
std::vector<double> downward_ranks(const Instance& instance, const std::vector<double>& mean) {
  const TaskGraph& graph = instance.graph();
  std::vector<double> rank(graph.tasks(), 0.0);
  for (const int task : graph.order()) {
    const TaskGraph::TaskRange before = graph.predecessors(task);
    for (int k = 0; k < before.size(); ++k) {
      const int i = before.first[k];
      rank[task] =
          std::max(rank[task], rank[i] + mean[i] + cost_from_predecessor(instance, task, k));
    }
  }
  return rank;
}

// The critical path: from the entry task of greatest upward rank always to the successor that gives
// the rank.
std::vector<int> critical_path(const Instance& instance, const std::vector<double>& upward) {
  const TaskGraph& graph = instance.graph();
  int task = -1;
  for (int entry = 0; entry < graph.tasks(); ++entry)
    if (graph.predecessors(entry).size() == 0 && (task < 0 || upward[entry] > upward[task]))
      task = entry;
  std::vector<int> path;
  while (task >= 0) {
    path.push_back(task);
    int follower = -1;
    double longest_rest = -1;
    const TaskGraph::TaskRange after = graph.successors(task);
    for (int k = 0; k < after.size(); ++k) {
      const double path_rest = cost_to_successor(instance, task, k) + upward[after.first[k]];
      if (path_rest > longest_rest) {
        longest_rest = path_rest;
        follower = after.first[k];
      }
    }
    task = follower;
  }
  return path;
}

int type_of_path(const Instance& instance, const std::vector<int>& path) {
  std::tuple<int, double> best{instance.tasks() + 1, 0.0};  // (tasks it cannot run, time)
  int chosen = 0;
  for (int type = 0; type < instance.types(); ++type) {
    std::tuple<int, double> cost{0, 0.0};
    for (const int task : path)
      if (instance.can_run(task, type))
        std::get<1>(cost) += instance.time(task, type);
      else
        ++std::get<0>(cost);
    if (cost <= best) {
      best = cost;
      chosen = type;
    }
  }
  return chosen;
}

}  // namespace

Plan cpop(const Instance& instance) {
  const TaskGraph& graph = instance.graph();
  const std::vector<double> mean = mean_times(instance);
  const std::vector<double> upward = ranks_with_transfers(instance, mean);
  const std::vector<double> downward = downward_ranks(instance, mean);
  const std::vector<int> path = critical_path(instance, upward);
  const int type = type_of_path(instance, path);
  std::vector<char> critical(graph.tasks(), 0);
  for (const int task : path) critical[task] = instance.can_run(task, type);

  std::priority_queue<std::pair<double, int>> ready;  // (priority, -task)
  std::vector<int> missing_predecessors;
  const auto release = [&](int task) { ready.emplace(upward[task] + downward[task], -task); };
  for (int task = 0; task < graph.tasks(); ++task) {
    missing_predecessors.push_back(graph.predecessors(task).size());
    if (missing_predecessors[task] == 0) release(task);
  }
  Insertion insertion(instance);
  for (int placed_tasks = 0; !ready.empty(); ++placed_tasks) {
    if (placed_tasks % 256 == 0) check_interrupt();
    const int task = -ready.top().second;
    ready.pop();
    insertion.place(
        task, critical[task] ? insertion.slot_on(task, {type, 0}) : insertion.best_slot(task));
    for (const int next : graph.successors(task)) {
      --missing_predecessors[next];
      if (missing_predecessors[next] == 0) release(next);
    }
  }
  return insertion.take_plan();
}

}  // namespace cosched::dags::list
