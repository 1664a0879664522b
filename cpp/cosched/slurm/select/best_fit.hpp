// The choice of consecutive whole nodes that Slurm's select plugins make (RULES.md 5.1).
#pragma once

#include "cosched/slurm/model/node_bits.hpp"

namespace cosched::slurm {

/// Best fit over runs of consecutive candidate nodes: the lowest nodes of the shortest run that
/// suffices (first of equals); where none does, the longest run whole, and so on for the rest.
class BestFit {
 public:
  /// Puts `wanted` nodes into `chosen_nodes`, a set of the size of `candidate_nodes`.  Requires
  /// that there are as many candidates.  O(runs^2) at worst.
  void choose(const NodeBits& candidate_nodes, int wanted, NodeBits& chosen_nodes);

 private:
  struct NodeRun {
    int first;
    int length;
  };
  std::vector<NodeRun> runs_;  // scratch, kept so that nothing is allocated
};

}  // namespace cosched::slurm
