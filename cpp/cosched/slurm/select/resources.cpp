#include "cosched/slurm/select/resources.hpp"

namespace cosched::slurm {

Free::Free(const Machine& machine)
    : cores(machine.node_cores),
      memory(machine.node_memory),
      gpus(machine.node_gpus),
      jobs(machine.node_cores.size()) {}

int Free::gpus_of(int node, int type) const {
  const auto n = static_cast<std::size_t>(node);
  if (type >= 0) return gpus[static_cast<std::size_t>(type)][n];
  int count = 0;
  for (const std::vector<int>& kind : gpus) count += kind[n];
  return count;
}

void Free::change_rest(const Shares& shares, int sign) {
  Shares rest = shares;
  for (Share& share : rest.nodes) {
    share.cores = 0;
    jobs[static_cast<std::size_t>(share.node)] -= sign;
  }
  change(rest, sign);
}

void Free::change(const Shares& shares, int sign) {
  for (const Share& share : shares.nodes) {
    const auto node = static_cast<std::size_t>(share.node);
    cores[node] -= sign * share.cores;
    jobs[node] += sign;
    if (!memory.empty()) memory[node] -= sign * share.memory;
  }
  for (const GpuShare& share : shares.gpus)
    gpus[static_cast<std::size_t>(share.type)][static_cast<std::size_t>(share.node)] -=
        sign * share.count;
}

}  // namespace cosched::slurm
