#include "cosched/cluster/dfrs/full_nodes.hpp"

namespace cosched::cluster::dfrs {

FullNodes find_full_nodes(const Mapping& mapping) {
  struct NodeShare {
    int node;
    CpuShare share;
  };
  struct NodeTotal {
    double load = 0;
    int jobs = 0;
  };
  std::vector<NodeShare> node_shares;
  node_shares.reserve(4 * mapping.cpu.size());
  std::vector<NodeTotal> totals(mapping.nodes);
  for (int j = 0; j < mapping.jobs(); ++j) {
    const double cpu = mapping.cpu[j];
    const int* task_node = mapping.nodes_of_job[j]->begin();
    const int* const end = mapping.nodes_of_job[j]->end();
    while (task_node != end) {
      const int node = *task_node;
      const int* const first_task = task_node;
      for (; task_node != end && *task_node == node; ++task_node) totals[node].load += cpu;
      ++totals[node].jobs;
      node_shares.push_back({node, {j, static_cast<double>(task_node - first_task) * cpu}});
    }
  }
  FullNodes full;
  full.node.reserve(mapping.nodes);
  full.begin.reserve(mapping.nodes + 1);
  std::vector<int> next_share(mapping.nodes, -1);  // of the node's row; -1: not full
  for (int node = 0; node < mapping.nodes; ++node)
    if (totals[node].load > 1 + kLoadTolerance) {
      next_share[node] = full.begin.back();
      full.node.push_back(node);
      full.begin.push_back(full.begin.back() + totals[node].jobs);
    }
  full.shares.resize(full.begin.back());
  for (const NodeShare& node_share : node_shares) {
    int& next = next_share[node_share.node];
    if (next < 0) continue;
    full.shares[next] = node_share.share;
    ++next;
  }
  return full;
}

std::vector<double> node_loads(const Mapping& mapping) {
  std::vector<double> load(mapping.nodes, 0.0);
  for (int j = 0; j < mapping.jobs(); ++j)
    for (const int node : *mapping.nodes_of_job[j]) load[node] += mapping.cpu[j];
  return load;
}

}  // namespace cosched::cluster::dfrs
