// Running jobs and the nodes of their tasks, as the allocation of CPU looks at them.
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/node_list.hpp"

namespace cosched::cluster::dfrs {

/// Jobs with their CPU needs and the nodes of their tasks (one entry a task, increasing).
/// Views: the lists pointed to outlive the mapping.
struct Mapping {
  int nodes = 0;
  std::vector<double> cpu;
  std::vector<const NodeList*> where;

  int jobs() const { return static_cast<int>(cpu.size()); }
};

}  // namespace cosched::cluster::dfrs
