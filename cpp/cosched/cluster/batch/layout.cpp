#include "cosched/cluster/batch/layout.hpp"

#include <numeric>

#include "cosched/core/assert.hpp"
#include "cosched/core/errors.hpp"

namespace cosched::cluster::batch {

Layout one_cell_layout(const Instance& instance) {
  return {.nodes = {instance.nodes()}, .open_cells = std::vector<BitSet64>(instance.size(), 1)};
}

void require_initial_nodes(const std::vector<std::vector<int>>& initial_nodes,
                           const Instance& instance) {
  if (static_cast<int>(initial_nodes.size()) != instance.size())
    throw InvalidInstance("jobs that run are those of another instance");
  std::vector<char> is_occupied(static_cast<std::size_t>(instance.nodes()));
  for (int j = 0; j < instance.size(); ++j) {
    if (initial_nodes[j].empty()) continue;
    if (static_cast<int>(initial_nodes[j].size()) != instance.jobs().tasks[j])
      throw InvalidInstance("a job that runs holds others than its nodes");
    for (const int node : initial_nodes[j]) {
      if (node < 0 || node >= instance.nodes() || is_occupied[node])
        throw InvalidInstance("jobs that run: expected nodes of the machine, each of one job");
      is_occupied[node] = 1;
    }
  }
}

std::vector<int> Layout::initial_nodes_per_cell(int job) const {
  COSCHED_ASSERT(has_initial_nodes(job));
  std::vector<int> count(nodes.size());
  for (const int node : initial_nodes[job]) {
    std::size_t cell = 0;
    int first_node_of_next_cell = nodes[0];
    while (node >= first_node_of_next_cell) {
      ++cell;
      first_node_of_next_cell += nodes[cell];
    }
    ++count[cell];
  }
  return count;
}

void require_layout_fits(const Instance& instance, const Layout& layout) {
  const std::int64_t total_nodes =
      std::accumulate(layout.nodes.begin(), layout.nodes.end(), std::int64_t{0});
  if (layout.cell_count() > kMaxCells)
    throw InvalidInstance("partitions divide the nodes into " +
                          std::to_string(layout.cell_count()) + " parts: expected at most " +
                          std::to_string(kMaxCells));
  if (total_nodes != instance.nodes() ||
      static_cast<int>(layout.open_cells.size()) != instance.size())
    throw InvalidInstance("the partitions are those of another instance");
  if (!layout.initial_nodes.empty()) require_initial_nodes(layout.initial_nodes, instance);
  for (int j = 0; j < instance.size(); ++j) {
    std::int64_t open_nodes = 0;
    for (int c = 0; c < layout.cell_count(); ++c)
      if (has_bit(layout.open_cells[j], c)) open_nodes += layout.nodes[c];
    if (instance.jobs().tasks[j] <= open_nodes) continue;
    const std::string place = open_nodes == total_nodes ? "the machine" : "its partition";
    throw InfeasibleError(instance.jobs().location_of(j) + ": needs " +
                          std::to_string(instance.jobs().tasks[j]) + " nodes, " + place + " has " +
                          std::to_string(open_nodes) + "; drop it with --drop too-wide");
  }
}

}  // namespace cosched::cluster::batch
