#include "cosched/slurm/select/overlap.hpp"

#include <algorithm>
#include <numeric>

namespace cosched::slurm {

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
      free_.cores[static_cast<std::size_t>(node)] =
          map.last(node) - map.first(node) - taken.count_range(map.first(node), map.last(node));
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
