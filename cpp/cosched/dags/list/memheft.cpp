#include "cosched/dags/list/memheft.hpp"

#include <list>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/memory_insertion.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::list {

void require_room(const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  if (!transfers.has_memory_limits()) return;
  for (int task = 0; task < instance.tasks(); ++task) {
    double needed_bytes = 0, largest_capacity = -1;
    const int* in = transfers.in_edges(task);
    for (int k = 0; k < instance.graph().predecessors(task).size(); ++k)
      needed_bytes += transfers.data()[in[k]];
    for (int k = 0; k < instance.graph().successors(task).size(); ++k)
      needed_bytes += transfers.data()[transfers.first_out_edge(task) + k];
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; instance.can_run(task, type) && unit < instance.units(type); ++unit)
        largest_capacity =
            std::max(largest_capacity,
                     instance.time(task, type) > 0 ? transfers.capacity({type, unit}) : kInfinity);
    if (needed_bytes > largest_capacity * (1 + kByteTolerance))
      throw InfeasibleError("memory_capacity: task " + std::to_string(task) + " needs " +
                            to_text(needed_bytes) +
                            " bytes while it runs, and no memory where it can has " + "more than " +
                            to_text(largest_capacity));
  }
}

Plan memory_schedule(const Instance& instance, const std::vector<double>& rank) {
  require_room(instance);
  const TaskGraph& graph = instance.graph();
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  MemoryInsertion insertion(instance);
  std::vector<int> missing_predecessors(graph.tasks());
  for (int task = 0; task < graph.tasks(); ++task)
    missing_predecessors[task] = graph.predecessors(task).size();
  for (std::list<int> unplaced(order.begin(), order.end()); !unplaced.empty();) {
    int first_ready = -1;
    auto item = unplaced.begin();
    for (; item != unplaced.end(); ++item) {
      if (missing_predecessors[*item] > 0) continue;
      check_interrupt();
      if (first_ready < 0) first_ready = *item;
      const TaskSlot choice = insertion.best_slot(*item);
      if (choice.type < 0) continue;
      insertion.place(*item, choice);
      break;
    }
    if (item == unplaced.end())
      throw InfeasibleError(
          "memory_capacity: found no place for task " + std::to_string(first_ready) + " and " +
          std::to_string(unplaced.size() - 1) + " more (which does not prove that there is none)");
    for (const int next : graph.successors(*item)) --missing_predecessors[next];
    unplaced.erase(item);
  }
  return insertion.plan();
}

Plan memheft(const Instance& instance) {
  if (!instance.transfers().has_memory_limits()) return heft(instance);
  return memory_schedule(instance, heft_ranks(instance));
}

}  // namespace cosched::dags::list
