#include "cosched/slurm/select/core_map.hpp"

namespace cosched::slurm {

CoreMap::CoreMap(const Scenario& scenario) {
  if (!scenario.suspends()) return;
  first_.push_back(0);
  for (const int cores : scenario.machine().node_cores) first_.push_back(first_.back() + cores);
  of_.assign(scenario.machine().parts.size(), NodeBits(first_.back()));
}

NodeBits CoreMap::taken() const {
  NodeBits all(first_.back());
  for (const NodeBits& cores : of_) all |= cores;
  return all;
}

NodeBits CoreMap::lowest(const std::vector<Share>& nodes, const NodeBits& taken) const {
  NodeBits cores(first_.back());
  for (const Share& share : nodes) {
    int left = share.cores;
    for (int core = first(share.node); left > 0 && core < last(share.node); ++core)
      if (!taken.has(core)) {
        cores.add(core);
        --left;
      }
  }
  return cores;
}

}  // namespace cosched::slurm
