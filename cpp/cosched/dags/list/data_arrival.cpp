#include "cosched/dags/list/data_arrival.hpp"

namespace cosched::dags::list {

DataArrival data_arrival(const Instance& instance, const Plan& plan, int task, int type) {
  const TaskGraph::TaskRange before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  DataArrival result;
  if (transfers.is_free()) {
    for (const int i : before) result.elsewhere = std::max(result.elsewhere, plan.end[i]);
    return result;
  }
  const int* edges = transfers.in_edges(task);
  std::int64_t latest = kNoMemory;  // from where the last data comes
  double others_time = 0;           // when all that is not there has come
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const std::int64_t memory = transfers.memory({plan.kind[i], plan.unit[i]});
    const double remote =
        plan.end[i] + transfers.cost_between_memories(edges[k], plan.kind[i], type);
    if (memory == latest) {
      result.elsewhere = std::max(result.elsewhere, remote);
    } else if (remote > result.elsewhere || latest == kNoMemory) {
      others_time = result.elsewhere;
      result.elsewhere = remote;
      latest = memory;
    } else {
      others_time = std::max(others_time, remote);
    }
  }
  result.in_memory = others_time;
  for (const int i : before)
    if (transfers.memory({plan.kind[i], plan.unit[i]}) == latest)
      result.in_memory = std::max(result.in_memory, plan.end[i]);
  if (transfers.has_all_units(latest, type))
    result.elsewhere = result.in_memory;
  else if (result.in_memory < result.elsewhere)
    result.memory = latest;
  return result;
}

double data_arrival_at(const Instance& instance, const Plan& plan, int task, Place place) {
  const TaskGraph::TaskRange before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  double ready = 0;
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const double cost = transfers.is_free() ? 0
                                            : transfers.cost(transfers.in_edges(task)[k],
                                                             {plan.kind[i], plan.unit[i]}, place);
    ready = std::max(ready, plan.end[i] + cost);
  }
  return ready;
}

int useful_units(const Instance& instance, int type) {
  const bool has_memory_list =
      !instance.transfers().is_free() &&
      instance.transfers().links().memories.kind == Memories::MemoryKind::listed;
  return has_memory_list ? instance.units(type) : std::min(instance.units(type), instance.tasks());
}

}  // namespace cosched::dags::list
