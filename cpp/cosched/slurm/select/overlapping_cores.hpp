// Nodes and cores for a job whose partition may suspend jobs of others (RULES.md 16.4): the steps
// of select/cons_tres over partitions and their rows.
#pragma once

#include "cosched/slurm/select/candidates.hpp"
#include "cosched/slurm/select/core_map.hpp"
#include "cosched/slurm/select/node_choice.hpp"

namespace cosched::slurm {

class OverlappingCores {
 public:
  /// Requires that the scenario outlives it.
  explicit OverlappingCores(const Scenario& scenario);

  /// Chooses nodes and cores for a job among `candidate_nodes`: idle cores, else those that jobs of
  /// lower tiers have.  Returns whether there are enough.  The cores of `free_resources` do not
  /// count.  O(partitions) times the cost of Candidates::choose.
  bool choose(QueueEntry entry, const NodeBits& candidate_nodes,
              const FreeResources& free_resources, const CoreMap& core_map, Weights& weights,
              NodeChoice& choice);

 private:
  bool choose_excluding(QueueEntry entry, const NodeBits& candidate_nodes, const CoreMap& core_map,
                        const NodeBits& excluded_cores, Weights& weights, NodeChoice& choice);
  bool keeps_cores_from(const Partition& partition, int other) const;

  const Scenario& scenario_;
  std::vector<int> partitions_by_tier_;  // by decreasing tier
  // Scratch, kept so that nothing is allocated.
  FreeResources free_resources_;
  Candidates candidates_;
};

}  // namespace cosched::slurm
