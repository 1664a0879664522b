#include "cosched/slurm/select/gang.hpp"

#include <algorithm>
#include <numeric>

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

Overlap::Overlap(const Scenario& scenario) : scenario_(scenario) {
  const std::vector<Partition>& parts = scenario.machine().parts;
  by_tier_.resize(parts.size());
  std::iota(by_tier_.begin(), by_tier_.end(), 0);
  std::stable_sort(by_tier_.begin(), by_tier_.end(), [&](int a, int b) {
    return parts[static_cast<std::size_t>(a)].tier > parts[static_cast<std::size_t>(b)].tier;
  });
}

// Its jobs keep their cores from those of `own`.
bool Overlap::beyond(const Partition& own, const Partition& other) const {
  return other.tier >= own.tier || other.preempt_mode == 0;
}

bool Overlap::choose(Entry entry, const NodeBits& candidates, const Free& free, const CoreMap& map,
                     Weights& weights, Choice& chosen) {
  free_ = free;
  if (without(entry, candidates, map, map.taken(), weights, chosen)) return true;
  const Partition& own = scenario_.part(entry);
  const auto part = [&](int number) -> const Partition& {
    return scenario_.part(Entry{entry.job, number});
  };
  NodeBits taken(map.of(entry.part));
  bool some = false;
  for (const int other : by_tier_)
    if (beyond(own, part(other)))
      taken |= map.of(other);
    else
      some = some || map.of(other).any();
  if (!some || !without(entry, candidates, map, taken, weights, chosen)) return false;
  // As few partitions as possible lose cores, the lowest first.
  Choice fewer = chosen;
  for (const int other : by_tier_) {
    if (beyond(own, part(other))) continue;
    taken |= map.of(other);
    if (!without(entry, candidates, map, taken, weights, fewer)) break;
    chosen = fewer;
  }
  return true;
}

// On cores that are not taken.
bool Overlap::without(Entry entry, const NodeBits& candidates, const CoreMap& map,
                      const NodeBits& taken, Weights& weights, Choice& chosen) {
  candidates.runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      free_.set_cores(node, map.last(node) - map.first(node) -
                                taken.count_range(map.first(node), map.last(node)));
  });
  if (!slurm::choose(scenario_.machine(), scenario_.job(entry), candidates, free_, weights,
                     chosen.shares))
    return false;
  chosen.nodes.clear();
  for (const Share& share : chosen.shares.nodes) chosen.nodes.add(share.node);
  chosen.part = entry.part;
  chosen.cores = map.lowest(chosen.shares.nodes, taken);
  return true;
}

}  // namespace cosched::slurm
