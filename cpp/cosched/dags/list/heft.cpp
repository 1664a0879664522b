#include "cosched/dags/list/heft.hpp"

#include <algorithm>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {
namespace {

std::vector<int> by_decreasing_rank(const TaskGraph& graph, const std::vector<double>& rank) {
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

}  // namespace

std::vector<double> mean_times(const Instance& instance) {
  std::vector<double> mean(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task) {
    double sum = 0, units = 0;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      sum += instance.units(type) * instance.time(task, type);
      units += instance.units(type);
    }
    mean[task] = sum / units;
  }
  return mean;
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

}  // namespace cosched::dags::list
