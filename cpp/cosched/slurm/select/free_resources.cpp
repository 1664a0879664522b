#include "cosched/slurm/select/free_resources.hpp"

namespace cosched::slurm {

FreeResources::FreeResources(const Machine& machine)
    : nodes_(machine.node_cores.size()),
      nodes_with_cores_(static_cast<int>(nodes_.size())),
      gpus_by_type_(machine.node_gpus) {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    set_cores(static_cast<int>(n), machine.node_cores[n]);
    if (!machine.node_memory.empty()) nodes_[n].memory = machine.node_memory[n];
  }
}

void FreeResources::copy_node(int node, const FreeResources& source) {
  nodes_[node] = source.nodes_[node];
  set_cores(node, nodes_[node].cores);
  for (std::size_t type = 0; type < gpus_by_type_.size(); ++type)
    gpus_by_type_[type][node] = source.gpus_by_type_[type][node];
}

int FreeResources::gpu_count(int node, int type) const {
  const auto n = static_cast<std::size_t>(node);
  if (type >= 0) return gpus_by_type_[type][n];
  int count = 0;
  for (const std::vector<int>& gpus : gpus_by_type_) count += gpus[n];
  return count;
}

void FreeResources::change(const Shares& shares, int sign) {
  for (const Share& share : shares.nodes) change(share, sign);
  for (const GpuShare& share : shares.gpus)
    gpus_by_type_[share.type][share.node] -= sign * share.count;
}

void FreeResources::change_except_cores(const Shares& shares, int sign) {
  Shares shares_without_cores = shares;
  for (Share& share : shares_without_cores.nodes) {
    share.cores = 0;
    nodes_[share.node].jobs -= sign;
  }
  change(shares_without_cores, sign);
}

}  // namespace cosched::slurm
