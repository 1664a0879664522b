#include "cosched/dags/list/peft.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::list {

Table optimistic_costs(const Instance& instance) {
  const TaskGraph& graph = instance.graph();
  const Transfers& transfers = instance.transfers();
  const int types = instance.types();
  Table costs(graph.tasks(), types);
  for (auto task = graph.order().rbegin(); task != graph.order().rend(); ++task)
    for (int k = 0; k < graph.successors(*task).size(); ++k) {
      const int next = graph.successors(*task).first[k];
      const double transfer_cost =
          transfers.is_free() ? 0 : transfers.mean_cost(transfers.first_out_edge(*task) + k);
      for (int type = 0; type < types; ++type) {
        double least = kInfinity;
        for (int other = 0; other < types; ++other)
          least = std::min(least, costs(next, other) + instance.time(next, other) +
                                      (other == type ? 0 : transfer_cost));
        costs(*task, type) = std::max(costs(*task, type), least);
      }
    }
  return costs;
}

Plan peft(const Instance& instance) {
  const TaskGraph& graph = instance.graph();
  const Table costs = optimistic_costs(instance);
  const std::vector<double> mean = mean_over_units(instance, costs);
  std::priority_queue<std::pair<double, int>> ready;  // (mean cost, -task)
  std::vector<int> missing_predecessors;
  for (int task = 0; task < graph.tasks(); ++task) {
    missing_predecessors.push_back(graph.predecessors(task).size());
    if (missing_predecessors[task] == 0) ready.emplace(mean[task], -task);
  }
  Insertion insertion(instance);
  for (int placed_tasks = 0; !ready.empty(); ++placed_tasks) {
    if (placed_tasks % 256 == 0) check_interrupt();
    const int task = -ready.top().second;
    ready.pop();
    TaskSlot best;
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const TaskSlot choice = insertion.best_slot_on(task, type);
      if (choice.end + costs(task, type) > least) continue;
      least = choice.end + costs(task, type);
      best = choice;
    }
    insertion.place(task, best);
    for (const int next : graph.successors(task)) {
      --missing_predecessors[next];
      if (missing_predecessors[next] == 0) ready.emplace(mean[next], -next);
    }
  }
  return insertion.take_plan();
}

}  // namespace cosched::dags::list
