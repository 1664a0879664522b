#include "cosched/dags/list/arrival.hpp"

namespace cosched::dags::list {

Arrival arrival(const Instance& instance, const Plan& plan, int task, int type) {
  const TaskGraph::Range before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  Arrival found;
  if (transfers.free()) {
    for (const int i : before) found.elsewhere = std::max(found.elsewhere, plan.end[i]);
    return found;
  }
  const int* edges = transfers.in_edges(task);
  std::int64_t latest = kNoMemory;  // from where the last data comes
  double others = 0;                // when all that is not there has come
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const std::int64_t memory = transfers.memory({plan.kind[i], plan.unit[i]});
    const double remote = plan.end[i] + transfers.remote(edges[k], plan.kind[i], type);
    if (memory == latest) {
      found.elsewhere = std::max(found.elsewhere, remote);
    } else if (remote > found.elsewhere || latest == kNoMemory) {
      others = found.elsewhere;
      found.elsewhere = remote;
      latest = memory;
    } else {
      others = std::max(others, remote);
    }
  }
  found.home = others;
  for (const int i : before)
    if (transfers.memory({plan.kind[i], plan.unit[i]}) == latest)
      found.home = std::max(found.home, plan.end[i]);
  if (transfers.holds_all(latest, type))
    found.elsewhere = found.home;
  else if (found.home < found.elsewhere)
    found.memory = latest;
  return found;
}

double arrival_at(const Instance& instance, const Plan& plan, int task, Place place) {
  const TaskGraph::Range before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  double ready = 0;
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const double cost = transfers.free() ? 0
                                         : transfers.cost(transfers.in_edges(task)[k],
                                                          {plan.kind[i], plan.unit[i]}, place);
    ready = std::max(ready, plan.end[i] + cost);
  }
  return ready;
}

int useful_units(const Instance& instance, int type) {
  const bool given = !instance.transfers().free() &&
                     instance.transfers().links().memories.kind == Memories::Kind::given;
  return given ? instance.units(type) : std::min(instance.units(type), instance.tasks());
}

std::vector<double> ranks_with_transfers(const Instance& instance,
                                         const std::vector<double>& duration) {
  const TaskGraph& graph = instance.graph();
  const Transfers& transfers = instance.transfers();
  if (transfers.free()) return ranks(graph, duration);
  std::vector<double> rank(graph.tasks());
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    double after = 0;
    int edge = transfers.first_out(*it);
    for (const int next : graph.successors(*it))
      after = std::max(after, transfers.mean_cost(edge++) + rank[next]);
    rank[*it] = duration[*it] + after;
  }
  return rank;
}

}  // namespace cosched::dags::list
