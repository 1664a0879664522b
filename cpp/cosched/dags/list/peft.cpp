#include "cosched/dags/list/peft.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

std::vector<double> mean_costs(const Instance& instance, const Table& costs) {
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

}  // namespace

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
  const std::vector<double> mean = mean_costs(instance, costs);
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
