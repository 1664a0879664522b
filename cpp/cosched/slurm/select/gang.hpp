// Who is suspended: jobs on cores that a job of a higher tier runs on (RULES.md 16.1, 16.2).
#pragma once

#include <numeric>

#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

// Which cores jobs have, where one may be suspended on cores that another runs on (RULES.md 16.3).

/// Nodes for a job; where jobs share nodes, what it has of each; where they are suspended, which
/// cores.
struct Choice {
  explicit Choice(int count) : nodes(count) {}
  /// Those of the shares.
  void list_nodes() {
    nodes.clear();
    for (const Share& share : shares.nodes) nodes.add(share.node);
  }
  NodeBits nodes;
  Shares shares;
  int part = 0;
  NodeBits cores = NodeBits();
};

/// The cores of all nodes, numbered one node after another, and who of which partition has them.
/// Empty where nobody is suspended.
class CoreMap {
 public:
  CoreMap() = default;
  explicit CoreMap(const Scenario& scenario) {
    if (!scenario.suspends()) return;
    first_.push_back(0);
    for (const int cores : scenario.machine().node_cores) first_.push_back(first_.back() + cores);
    of_.assign(scenario.machine().parts.size(), NodeBits(first_.back()));
  }

  int first(int node) const { return first_[node]; }
  int last(int node) const { return first_[static_cast<std::size_t>(node) + 1]; }

  void take(int part, const NodeBits& cores) { of_[index(part)] |= cores; }
  void give(int part, const NodeBits& cores) { of_[index(part)] -= cores; }
  const NodeBits& of(int part) const { return of_[index(part)]; }
  /// Of any partition.
  NodeBits taken() const {
    NodeBits all(first_.back());
    for (const NodeBits& cores : of_) all |= cores;
    return all;
  }

  /// The lowest cores of these nodes that are not taken, as many as the job has of each, or as
  /// there are.
  NodeBits lowest(const std::vector<Share>& nodes, const NodeBits& taken) const {
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

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  std::vector<int> first_;  // core of each node, and the end
  std::vector<NodeBits> of_;
};

class Gang {
 public:
  /// Requires that the scenario outlives it.
  explicit Gang(const Scenario& scenario) : scenario_(scenario) {}

  struct Turn {
    int job;
    bool suspended;  // else it runs on
  };
  /// A job starts on its cores; who has to stop for it.
  std::vector<Turn> start(Entry entry, const NodeBits& cores) {
    const Member fresh{entry, cores, false};
    const auto place = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member& other) { return tier(other) < tier(fresh); });
    members_.insert(place, fresh);
    return turns();
  }

  /// Its last node is clean; who goes on.
  std::vector<Turn> over(int job) {
    const auto place = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member& other) { return other.entry.job == job; });
    if (place == members_.end()) return {};
    members_.erase(place);
    return turns();
  }

 private:
  struct Member {
    Entry entry;
    NodeBits cores;
    bool suspended;
  };
  int tier(const Member& member) const { return scenario_.part(member.entry).tier; }

  // A suspended job is in nobody's way.
  std::vector<Turn> turns() {
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

  const Scenario& scenario_;
  std::vector<Member> members_;  // decreasing tier, then as they started
};

// Which cores a job may have whose partition may suspend jobs of others: the steps of
// select/cons_tres (RULES.md 16.4).

class Overlap {
 public:
  /// Requires that the scenario outlives it.
  explicit Overlap(const Scenario& scenario) : scenario_(scenario) {
    const std::vector<Partition>& parts = scenario.machine().parts;
    by_tier_.resize(parts.size());
    std::iota(by_tier_.begin(), by_tier_.end(), 0);
    std::stable_sort(by_tier_.begin(), by_tier_.end(),
                     [&](int a, int b) { return parts[a].tier > parts[b].tier; });
  }

  /// Nodes and cores for a job among `candidates`: idle ones, else those that jobs of lower tiers
  /// have; whether there are enough.  Of `free` the cores do not count.  O(partitions) times that
  /// of `choose`.
  bool choose(Entry entry, const NodeBits& candidates, const Free& free, const CoreMap& map,
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

 private:
  // On cores that are not taken.
  bool without(Entry entry, const NodeBits& candidates, const CoreMap& map, const NodeBits& taken,
               Weights& weights, Choice& chosen) {
    candidates.runs([&](int first, int length) {
      for (int node = first; node < first + length; ++node)
        free_.set_cores(node, map.last(node) - map.first(node) -
                                  taken.count_range(map.first(node), map.last(node)));
    });
    candidates_.gather(scenario_.machine(), scenario_.job(entry), candidates, free_, weights);
    if (!candidates_.choose(free_, weights, chosen.shares)) return false;
    chosen.list_nodes();
    chosen.part = entry.part;
    chosen.cores = map.lowest(chosen.shares.nodes, taken);
    return true;
  }

  // Its jobs keep their cores from those of `own`.
  bool beyond(const Partition& own, const Partition& other) const {
    return other.tier >= own.tier || other.preempt_mode == 0;
  }

  const Scenario& scenario_;
  std::vector<int> by_tier_;  // partitions, the highest first
  // Scratch.
  Free free_;
  Candidates candidates_;
};

}  // namespace cosched::slurm
