#include "cosched/slurm/select/core_map.hpp"

namespace cosched::slurm {

CoreMap::CoreMap(const Scenario& scenario) {
  if (!scenario.suspends_jobs()) return;
  first_cores_.push_back(0);
  for (const int cores : scenario.machine().node_cores)
    first_cores_.push_back(first_cores_.back() + cores);
  cores_by_partition_.assign(scenario.machine().partitions.size(), NodeBits(first_cores_.back()));
}

int CoreMap::count_free_cores(int node, const NodeBits& excluded_cores) const {
  return end_core(node) - first_core(node) -
         excluded_cores.count_range(first_core(node), end_core(node));
}

NodeBits CoreMap::allocated_cores() const {
  NodeBits allocated(first_cores_.back());
  for (const NodeBits& cores : cores_by_partition_) allocated |= cores;
  return allocated;
}

NodeBits CoreMap::lowest_free_cores(const std::vector<Share>& shares,
                                    const NodeBits& excluded_cores) const {
  NodeBits cores(first_cores_.back());
  for (const Share& share : shares) {
    int missing_cores = share.cores;
    for (int core = first_core(share.node); missing_cores > 0 && core < end_core(share.node);
         ++core)
      if (!excluded_cores.has(core)) {
        cores.add(core);
        --missing_cores;
      }
  }
  return cores;
}

}  // namespace cosched::slurm
