#include "cosched/cluster/batch/layout.hpp"

#include <numeric>
#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::batch {

Layout one_cell(const Instance& instance) {
  return {{instance.nodes()}, std::vector<std::uint64_t>(instance.size(), 1)};
}

void require_layout_fits(const Instance& instance, const Layout& layout) {
  const std::int64_t total =
      std::accumulate(layout.nodes.begin(), layout.nodes.end(), std::int64_t{0});
  if (layout.cells() > kMostCells)
    throw InvalidInstance("partitions divide the nodes into " + std::to_string(layout.cells()) +
                          " parts: expected at most " + std::to_string(kMostCells));
  if (total != instance.nodes() || static_cast<int>(layout.allowed.size()) != instance.size())
    throw InvalidInstance("the partitions are those of another instance");
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
