#include "cosched/moldable/graph/precedence.hpp"

namespace cosched::moldable::graph {

std::vector<double> bottom_levels(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> level(duration);
  for (auto position = graph.order().rbegin(); position != graph.order().rend(); ++position) {
    double after = 0;
    for (const int k : graph.successors(*position)) after = std::max(after, level[k]);
    level[*position] += after;
  }
  return level;
}

std::vector<double> heads(const TaskGraph& graph, const std::vector<double>& duration,
                          const std::vector<double>& release) {
  std::vector<double> head(release);
  for (const int i : graph.order())
    for (const int k : graph.successors(i)) head[k] = std::max(head[k], head[i] + duration[i]);
  return head;
}

}  // namespace cosched::moldable::graph
