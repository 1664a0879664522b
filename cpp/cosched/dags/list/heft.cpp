#include "cosched/dags/list/heft.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::list {
namespace {

std::vector<int> by_decreasing_rank(const TaskGraph& graph, const std::vector<double>& rank) {
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

}  // namespace

Plan insertion_schedule(const Instance& instance, const std::vector<double>& rank,
                        const Allocation* allocation) {
  if (allocation) require_allocation(instance, *allocation);
  Insertion insertion(instance);
  int placed_tasks = 0;
  for (const int task : by_decreasing_rank(instance.graph(), rank)) {
    if (placed_tasks % 256 == 0) check_interrupt();
    ++placed_tasks;
    insertion.place(task, insertion.best_slot(task, allocation));
  }
  return insertion.take_plan();
}

Plan schedule_on_one_unit(const Instance& instance, int type) {
  Insertion insertion(instance);
  for (const int task : by_decreasing_rank(instance.graph(), heft_ranks(instance))) {
    const int chosen = instance.can_run(task, type) ? type : instance.fastest_type(task);
    insertion.place(task, insertion.slot_on(task, {chosen, 0}));
  }
  return insertion.take_plan();
}

Plan heft(const Instance& instance) { return insertion_schedule(instance, heft_ranks(instance)); }

}  // namespace cosched::dags::list
