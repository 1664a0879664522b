// Who is suspended: jobs on cores that a job of a higher tier runs on (RULES.md 16.1, 16.2).
#pragma once

#include <numeric>

#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

// Which cores jobs have, where one may be suspended on cores that another runs on (RULES.md 16.3).

/// Nodes for a job; where jobs share nodes, what it has of each; where they are suspended, which
/// cores.
struct NodeChoice {
  explicit NodeChoice(int count) : nodes(count) {}
  /// Those of the shares.
  void set_nodes_from_shares() {
    nodes.clear();
    for (const Share& share : shares.nodes) nodes.add(share.node);
  }
  NodeBits nodes;
  Shares shares;
  int partition = 0;
  NodeBits cores = NodeBits();
};

/// The cores of all nodes, numbered one node after another, and who of which partition has them.
/// Empty where nobody is suspended.
class CoreMap {
 public:
  CoreMap() = default;
  explicit CoreMap(const Scenario& scenario) {
    if (!scenario.suspends_jobs()) return;
    first_cores_.push_back(0);
    for (const int cores : scenario.machine().node_cores)
      first_cores_.push_back(first_cores_.back() + cores);
    cores_by_partition_.assign(scenario.machine().partitions.size(), NodeBits(first_cores_.back()));
  }

  int first_core(int node) const { return first_cores_[node]; }
  int end_core(int node) const { return first_cores_[static_cast<std::size_t>(node) + 1]; }

  void allocate(int part, const NodeBits& cores) { cores_by_partition_[index(part)] |= cores; }
  void release(int part, const NodeBits& cores) { cores_by_partition_[index(part)] -= cores; }
  const NodeBits& cores_of(int part) const { return cores_by_partition_[index(part)]; }
  /// Of any partition.
  NodeBits allocated_cores() const {
    NodeBits all(first_cores_.back());
    for (const NodeBits& cores : cores_by_partition_) all |= cores;
    return all;
  }

  /// The lowest cores of these nodes that are not taken, as many as the job has of each, or as
  /// there are.
  NodeBits lowest_free_cores(const std::vector<Share>& nodes, const NodeBits& taken) const {
    NodeBits cores(first_cores_.back());
    for (const Share& share : nodes) {
      int left = share.cores;
      for (int core = first_core(share.node); left > 0 && core < end_core(share.node); ++core)
        if (!taken.has(core)) {
          cores.add(core);
          --left;
        }
    }
    return cores;
  }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  std::vector<int> first_cores_;  // core of each node, and the end
  std::vector<NodeBits> cores_by_partition_;
};

class Gang {
 public:
  /// Requires that the scenario outlives it.
  explicit Gang(const Scenario& scenario) : scenario_(scenario) {}

  struct GangSwitch {
    int job;
    bool is_suspended;  // else it runs on
  };
  /// A job starts on its cores; who has to stop for it.
  std::vector<GangSwitch> start(QueueEntry entry, const NodeBits& cores) {
    const Member fresh{entry, cores, false};
    const auto place = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member& other) { return tier(other) < tier(fresh); });
    members_.insert(place, fresh);
    return update_suspensions();
  }

  /// Its last node is clean; who goes on.
  std::vector<GangSwitch> end(int job) {
    const auto place = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member& other) { return other.entry.job == job; });
    if (place == members_.end()) return {};
    members_.erase(place);
    return update_suspensions();
  }

 private:
  struct Member {
    QueueEntry entry;
    NodeBits cores;
    bool is_suspended;
  };
  int tier(const Member& member) const { return scenario_.partition(member.entry).tier; }

  // A suspended job is in nobody's way.
  std::vector<GangSwitch> update_suspensions() {
    std::vector<GangSwitch> changed;
    for (auto one = members_.begin(); one != members_.end(); ++one) {
      const bool suspended = std::any_of(members_.begin(), one, [&](const Member& above) {
        return !above.is_suspended && tier(above) > tier(*one) &&
               above.cores.intersects(one->cores);
      });
      if (suspended != one->is_suspended) changed.push_back({one->entry.job, suspended});
      one->is_suspended = suspended;
    }
    return changed;
  }

  const Scenario& scenario_;
  std::vector<Member> members_;  // decreasing tier, then as they started
};

// Which cores a job may have whose partition may suspend jobs of others: the steps of
// select/cons_tres (RULES.md 16.4).

class OverlappingCores {
 public:
  /// Requires that the scenario outlives it.
  explicit OverlappingCores(const Scenario& scenario) : scenario_(scenario) {
    const std::vector<Partition>& parts = scenario.machine().partitions;
    partitions_by_tier_.resize(parts.size());
    std::iota(partitions_by_tier_.begin(), partitions_by_tier_.end(), 0);
    std::stable_sort(partitions_by_tier_.begin(), partitions_by_tier_.end(),
                     [&](int a, int b) { return parts[a].tier > parts[b].tier; });
  }

  /// Nodes and cores for a job among `candidates`: idle ones, else those that jobs of lower tiers
  /// have; whether there are enough.  Of `free` the cores do not count.  O(partitions) times that
  /// of `choose`.
  bool choose(QueueEntry entry, const NodeBits& candidates, const FreeResources& free,
              const CoreMap& map, Weights& weights, NodeChoice& chosen) {
    free_resources_ = free;
    if (choose_outside(entry, candidates, map, map.allocated_cores(), weights, chosen)) return true;
    const Partition& own = scenario_.partition(entry);
    const auto part = [&](int number) -> const Partition& {
      return scenario_.partition(QueueEntry{entry.job, number});
    };
    NodeBits taken(map.cores_of(entry.partition));
    bool some = false;
    for (const int other : partitions_by_tier_)
      if (keeps_cores_from(own, part(other)))
        taken |= map.cores_of(other);
      else
        some = some || map.cores_of(other).any();
    if (!some || !choose_outside(entry, candidates, map, taken, weights, chosen)) return false;
    // As few partitions as possible lose cores, the lowest first.
    NodeChoice fewer = chosen;
    for (const int other : partitions_by_tier_) {
      if (keeps_cores_from(own, part(other))) continue;
      taken |= map.cores_of(other);
      if (!choose_outside(entry, candidates, map, taken, weights, fewer)) break;
      chosen = fewer;
    }
    return true;
  }

 private:
  // On cores that are not taken.
  bool choose_outside(QueueEntry entry, const NodeBits& candidates, const CoreMap& map,
                      const NodeBits& taken, Weights& weights, NodeChoice& chosen) {
    candidates.for_each_run([&](int first, int length) {
      for (int node = first; node < first + length; ++node)
        free_resources_.set_cores(node,
                                  map.end_core(node) - map.first_core(node) -
                                      taken.count_range(map.first_core(node), map.end_core(node)));
    });
    candidates_.gather(scenario_.machine(), scenario_.job(entry), candidates, free_resources_,
                       weights);
    if (!candidates_.choose(free_resources_, weights, chosen.shares)) return false;
    chosen.set_nodes_from_shares();
    chosen.partition = entry.partition;
    chosen.cores = map.lowest_free_cores(chosen.shares.nodes, taken);
    return true;
  }

  // Its jobs keep their cores from those of `own`.
  bool keeps_cores_from(const Partition& own, const Partition& other) const {
    return other.tier >= own.tier || other.preempt_mode == 0;
  }

  const Scenario& scenario_;
  std::vector<int> partitions_by_tier_;  // partitions, the highest first
  // Scratch.
  FreeResources free_resources_;
  Candidates candidates_;
};

}  // namespace cosched::slurm
