// Who is suspended: jobs on cores that a job of a higher tier runs on (RULES.md 16.1, 16.2).
#pragma once

#include <vector>

#include "cosched/slurm/model/scenario.hpp"
#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

// Which cores jobs have, where one may be suspended on cores that another runs on (RULES.md 16.3).

/// Nodes for a job; where jobs share nodes, what it has of each; where they are suspended, which
/// cores.
struct Choice {
  explicit Choice(int count) : nodes(count) {}
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
  explicit CoreMap(const Scenario& scenario);

  int first(int node) const { return first_[static_cast<std::size_t>(node)]; }
  int last(int node) const { return first_[static_cast<std::size_t>(node) + 1]; }

  void take(int part, const NodeBits& cores) { of_[index(part)] |= cores; }
  void give(int part, const NodeBits& cores) { of_[index(part)] -= cores; }
  const NodeBits& of(int part) const { return of_[index(part)]; }
  /// Of any partition.
  NodeBits taken() const;
  /// The lowest cores of these nodes that are not taken, as many as the job has of each, or as
  /// there are.
  NodeBits lowest(const std::vector<Share>& nodes, const NodeBits& taken) const;

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
  std::vector<Turn> start(Entry entry, const NodeBits& cores);
  /// Its last node is clean; who goes on.
  std::vector<Turn> over(int job);

 private:
  struct Member {
    Entry entry;
    NodeBits cores;
    bool suspended;
  };
  int tier(const Member& member) const { return scenario_.part(member.entry).tier; }
  std::vector<Turn> turns();

  const Scenario& scenario_;
  std::vector<Member> members_;  // decreasing tier, then as they started
};

// Which cores a job may have whose partition may suspend jobs of others: the steps of
// select/cons_tres (RULES.md 16.4).

class Overlap {
 public:
  /// Requires that the scenario outlives it.
  explicit Overlap(const Scenario& scenario);

  /// Nodes and cores for a job among `candidates`: idle ones, else those that jobs of lower tiers
  /// have; whether there are enough.  Of `free` the cores do not count.  O(partitions) times that
  /// of `choose`.
  bool choose(Entry entry, const NodeBits& candidates, const Free& free, const CoreMap& map,
              Weights& weights, Choice& chosen);

 private:
  bool without(Entry entry, const NodeBits& candidates, const CoreMap& map, const NodeBits& taken,
               Weights& weights, Choice& chosen);
  bool beyond(const Partition& own, const Partition& other) const;

  const Scenario& scenario_;
  std::vector<int> by_tier_;  // partitions, the highest first
  Free free_;                 // scratch
};

}  // namespace cosched::slurm
