#include "cosched/cluster/batch/layout.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::batch {

Layout one_cell(const Instance& instance) {
  return {{instance.nodes()}, std::vector<std::uint64_t>(instance.size(), 1)};
}

void require_held(const std::vector<std::vector<int>>& held, const Instance& instance) {
  if (static_cast<int>(held.size()) != instance.size())
    throw InvalidInstance("jobs that run are those of another instance");
  std::vector<char> taken(static_cast<std::size_t>(instance.nodes()));
  for (int j = 0; j < instance.size(); ++j) {
    if (held[j].empty()) continue;
    if (static_cast<int>(held[j].size()) != instance.jobs().tasks[j])
      throw InvalidInstance("a job that runs holds others than its nodes");
    for (const int node : held[j])
      if (node < 0 || node >= instance.nodes() || std::exchange(taken[node], 1))
        throw InvalidInstance("jobs that run: expected nodes of the machine, each of one job");
  }
}

std::vector<int> Layout::held_of_cells(int job) const {
  std::vector<int> count(nodes.size());
  for (const int node : held[job]) {
    std::size_t cell = 0;
    for (int first = nodes[0]; node >= first; first += nodes[++cell]) {
    }
    ++count[cell];
  }
  return count;
}

void require_layout_fits(const Instance& instance, const Layout& layout) {
  const std::int64_t total =
      std::accumulate(layout.nodes.begin(), layout.nodes.end(), std::int64_t{0});
  if (layout.cells() > kMostCells)
    throw InvalidInstance("partitions divide the nodes into " + std::to_string(layout.cells()) +
                          " parts: expected at most " + std::to_string(kMostCells));
  if (total != instance.nodes() || static_cast<int>(layout.allowed.size()) != instance.size())
    throw InvalidInstance("the partitions are those of another instance");
  if (!layout.held.empty()) require_held(layout.held, instance);
  for (int j = 0; j < instance.size(); ++j) {
    std::int64_t room = 0;
    for (int c = 0; c < layout.cells(); ++c)
      if (layout.allowed[j] >> c & 1) room += layout.nodes[c];
    if (instance.jobs().tasks[j] <= room) continue;
    const std::string whose = room == total ? "the machine" : "its partition";
    throw InfeasibleError(instance.jobs().place(j) + ": needs " +
                          std::to_string(instance.jobs().tasks[j]) + " nodes, " + whose + " has " +
                          std::to_string(room) + "; drop it with --drop too-wide");
  }
}

}  // namespace cosched::cluster::batch
