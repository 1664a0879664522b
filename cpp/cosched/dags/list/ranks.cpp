#include "cosched/dags/list/ranks.hpp"

#include <algorithm>

#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::list {

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

std::vector<double> mean_times(const Instance& instance) {
  return mean_over_units(instance, instance.times());
}

std::vector<double> heft_ranks(const Instance& instance) {
  return ranks_with_transfers(instance, mean_times(instance));
}

std::vector<double> ranks_with_transfers(const Instance& instance,
                                         const std::vector<double>& duration) {
  const TaskGraph& graph = instance.graph();
  const Transfers& transfers = instance.transfers();
  if (transfers.is_free()) return compute_ranks(graph, duration);
  std::vector<double> rank(graph.tasks());
  for (auto task = graph.order().rbegin(); task != graph.order().rend(); ++task) {
    double rest_of_path = 0;
    int edge = transfers.first_out_edge(*task);
    for (const int next : graph.successors(*task))
      rest_of_path = std::max(rest_of_path, transfers.mean_cost(edge++) + rank[next]);
    rank[*task] = duration[*task] + rest_of_path;
  }
  return rank;
}

}  // namespace cosched::dags::list
