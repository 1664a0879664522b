#include "cosched/cluster/dfrs/full_nodes.hpp"

namespace cosched::cluster::dfrs {

FullNodes full_nodes(const Mapping& mapping) {
  struct Part {  // of a node, by a job
    int node;
    CpuShare share;
  };
  std::vector<Part> parts;
  parts.reserve(4 * mapping.cpu.size());
  struct Total {
    double load = 0;
    int jobs = 0;
  };
  std::vector<Total> total(mapping.nodes);
  for (int j = 0; j < mapping.jobs(); ++j) {
    const double cpu = mapping.cpu[j];
    const int *at = mapping.where[j]->begin(), *const end = mapping.where[j]->end();
    while (at != end) {
      const int node = *at, *const begin = at;
      for (; at != end && *at == node; ++at) total[node].load += cpu;
      ++total[node].jobs;
      parts.push_back({node, {j, static_cast<double>(at - begin) * cpu}});
    }
  }
  FullNodes full;
  full.node.reserve(mapping.nodes);
  full.begin.reserve(mapping.nodes + 1);
  std::vector<int> next(mapping.nodes, -1);  // share of the node's row
  for (int node = 0; node < mapping.nodes; ++node)
    if (total[node].load > 1 + kLoadTolerance) {
      next[node] = full.begin.back();
      full.node.push_back(node);
      full.begin.push_back(full.begin.back() + total[node].jobs);
    }
  full.shares.resize(full.begin.back());
  for (const Part& part : parts)
    if (next[part.node] >= 0) full.shares[next[part.node]++] = part.share;
  return full;
}

}  // namespace cosched::cluster::dfrs
