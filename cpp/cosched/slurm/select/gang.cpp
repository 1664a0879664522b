#include "cosched/slurm/select/gang.hpp"

#include <algorithm>

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

std::vector<Gang::Turn> Gang::start(Entry entry, const NodeBits& cores) {
  const Member fresh{entry, cores, false};
  const auto place = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& other) { return tier(other) < tier(fresh); });
  members_.insert(place, fresh);
  return turns();
}

std::vector<Gang::Turn> Gang::over(int job) {
  const auto place = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& other) { return other.entry.job == job; });
  if (place == members_.end()) return {};
  members_.erase(place);
  return turns();
}

// A suspended job is in nobody's way.
std::vector<Gang::Turn> Gang::turns() {
  std::vector<Turn> changed;
  for (auto one = members_.begin(); one != members_.end(); ++one) {
    const bool suspended = std::any_of(members_.begin(), one, [&](const Member& above) {
      return !above.suspended && tier(above) > tier(*one) && above.cores.meets(one->cores);
    });
    if (suspended != one->suspended) changed.push_back({one->entry.job, suspended});
    one->suspended = suspended;
  }
  return changed;
}

}  // namespace cosched::slurm
