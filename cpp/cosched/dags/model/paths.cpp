#include "cosched/dags/model/paths.hpp"

#include <algorithm>

namespace cosched::dags {

std::vector<double> compute_ranks(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> rank(graph.tasks());
  for (auto task = graph.order().rbegin(); task != graph.order().rend(); ++task) {
    double rest_of_path = 0;
    for (const int next : graph.successors(*task))
      rest_of_path = std::max(rest_of_path, rank[next]);
    rank[*task] = duration[*task] + rest_of_path;
  }
  return rank;
}

std::vector<double> compute_earliest_ends(const TaskGraph& graph,
                                          const std::vector<double>& duration) {
  std::vector<double> end(graph.tasks());
  for (const int task : graph.order()) {
    double start = 0;
    for (const int before : graph.predecessors(task)) start = std::max(start, end[before]);
    end[task] = start + duration[task];
  }
  return end;
}

}  // namespace cosched::dags
