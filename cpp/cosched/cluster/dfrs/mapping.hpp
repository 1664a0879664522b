// Running jobs and the nodes of their tasks, as the allocation of CPU looks at them.
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/node_list.hpp"

namespace cosched::cluster::dfrs {

/// A view: the node lists have to outlive the mapping.
struct Mapping {
  int nodes = 0;            // number of nodes of the machine
  std::vector<double> cpu;  // by job: CPU need of a task, as a fraction of a node
  // By job: one entry for each task, increasing.
  std::vector<const NodeList*> nodes_of_job;

  int jobs() const { return static_cast<int>(cpu.size()); }
};

}  // namespace cosched::cluster::dfrs
