#include "cosched/dags/list/heft.hpp"

#include <queue>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

std::vector<int> by_decreasing_rank(const TaskGraph& graph, const std::vector<double>& rank) {
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

// Of each task, over the units that can run it.
std::vector<double> mean_over_units(const Instance& instance, const Table& costs) {
  std::vector<double> mean(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task) {
    double sum = 0, units = 0;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      sum += instance.units(type) * costs(task, type);
      units += instance.units(type);
    }
    mean[task] = sum / units;
  }
  return mean;
}

// Mean cost of the edge from the k-th predecessor, to the k-th successor.
double cost_in(const Instance& instance, int task, int k) {
  const Transfers& transfers = instance.transfers();
  return transfers.free() ? 0 : transfers.mean_cost(transfers.in_edges(task)[k]);
}
double cost_out(const Instance& instance, int task, int k) {
  const Transfers& transfers = instance.transfers();
  return transfers.free() ? 0 : transfers.mean_cost(transfers.first_out(task) + k);
}

// Longest path to the begin of each task.
std::vector<double> downward_ranks(const Instance& instance, const std::vector<double>& mean) {
  const TaskGraph& graph = instance.graph();
  std::vector<double> rank(graph.tasks(), 0.0);
  for (const int task : graph.order()) {
    const TaskGraph::Range before = graph.predecessors(task);
    for (int k = 0; k < before.size(); ++k) {
      const int i = before.first[k];
      rank[task] = std::max(rank[task], rank[i] + mean[i] + cost_in(instance, task, k));
    }
  }
  return rank;
}

// The path of the upward rank: from the entry of greatest rank to the successor that gives it.
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
    double most = -1;
    const TaskGraph::Range after = graph.successors(task);
    for (int k = 0; k < after.size(); ++k) {
      const double rest = cost_out(instance, task, k) + upward[after.first[k]];
      if (rest > most) {
        most = rest;
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

std::vector<double> mean_times(const Instance& instance) {
  return mean_over_units(instance, instance.times());
}

std::vector<double> heft_ranks(const Instance& instance) {
  return ranks_with_transfers(instance, mean_times(instance));
}

Plan insertion_schedule(const Instance& instance, const std::vector<double>& rank,
                        const Allocation* allocation) {
  if (allocation) require_allocation(instance, *allocation);
  Insertion insertion(instance);
  int done = 0;
  for (const int task : by_decreasing_rank(instance.graph(), rank)) {
    if (done++ % 256 == 0) check_interrupt();
    insertion.place(task, insertion.best(task, allocation));
  }
  return insertion.take();
}

Plan together(const Instance& instance, int type) {
  Insertion insertion(instance);
  for (const int task : by_decreasing_rank(instance.graph(), heft_ranks(instance))) {
    const int chosen = instance.can_run(task, type) ? type : instance.fastest(task);
    insertion.place(task, insertion.on(task, {chosen, 0}));
  }
  return insertion.take();
}

Plan heft(const Instance& instance) { return insertion_schedule(instance, heft_ranks(instance)); }

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
  std::vector<int> waiting;
  const auto release = [&](int task) { ready.emplace(upward[task] + downward[task], -task); };
  for (int task = 0; task < graph.tasks(); ++task) {
    waiting.push_back(graph.predecessors(task).size());
    if (waiting[task] == 0) release(task);
  }
  Insertion insertion(instance);
  for (int done = 0; !ready.empty(); ++done) {
    if (done % 256 == 0) check_interrupt();
    const int task = -ready.top().second;
    ready.pop();
    insertion.place(task, critical[task] ? insertion.on(task, {type, 0}) : insertion.best(task));
    for (const int next : graph.successors(task))
      if (--waiting[next] == 0) release(next);
  }
  return insertion.take();
}

Table optimistic_costs(const Instance& instance) {
  const TaskGraph& graph = instance.graph();
  const Transfers& transfers = instance.transfers();
  const int types = instance.types();
  Table costs(graph.tasks(), types);
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it)
    for (int k = 0; k < graph.successors(*it).size(); ++k) {
      const int next = graph.successors(*it).first[k];
      const double moved = transfers.free() ? 0 : transfers.mean_cost(transfers.first_out(*it) + k);
      for (int type = 0; type < types; ++type) {
        double least = kInfinity;
        for (int other = 0; other < types; ++other)
          least = std::min(
              least, costs(next, other) + instance.time(next, other) + (other == type ? 0 : moved));
        costs(*it, type) = std::max(costs(*it, type), least);
      }
    }
  return costs;
}

Plan peft(const Instance& instance) {
  const TaskGraph& graph = instance.graph();
  const Table costs = optimistic_costs(instance);
  const std::vector<double> mean = mean_over_units(instance, costs);
  std::priority_queue<std::pair<double, int>> ready;  // (mean cost, -task)
  std::vector<int> waiting;
  for (int task = 0; task < graph.tasks(); ++task) {
    waiting.push_back(graph.predecessors(task).size());
    if (waiting[task] == 0) ready.emplace(mean[task], -task);
  }
  Insertion insertion(instance);
  for (int done = 0; !ready.empty(); ++done) {
    if (done % 256 == 0) check_interrupt();
    const int task = -ready.top().second;
    ready.pop();
    Choice best;
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const Choice choice = insertion.best_on(task, type);
      if (choice.end + costs(task, type) > least) continue;
      least = choice.end + costs(task, type);
      best = choice;
    }
    insertion.place(task, best);
    for (const int next : graph.successors(task))
      if (--waiting[next] == 0) ready.emplace(mean[next], -next);
  }
  return insertion.take();
}

}  // namespace cosched::dags::list
