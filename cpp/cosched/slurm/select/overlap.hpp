// Which cores a job may have whose partition may suspend jobs of others: the steps of select/cons_tres (RULES.md 16.4).
#pragma once

#include "cosched/slurm/select/choose.hpp"
#include "cosched/slurm/select/gang.hpp"

namespace cosched::slurm {

class Overlap {
 public:
  /// Requires that the scenario outlives it.
  explicit Overlap(const Scenario& scenario);

  /// Nodes and cores for a job among `candidates`: idle ones, else those that jobs of lower tiers have; whether there are
  /// enough.  Of `free` the cores do not count.  O(partitions) times that of `choose`.
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
