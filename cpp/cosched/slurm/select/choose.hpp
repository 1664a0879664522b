// Which of the nodes that have something for a job: select/cons_tres over nodes (RULES.md 8).
#pragma once

#include "cosched/slurm/select/resources.hpp"

namespace cosched::slurm {

// The choice of consecutive whole nodes that Slurm's select plugins make (RULES.md 5.1).

/// Best fit over runs of consecutive candidates into `chosen` (of their size): the lowest nodes of
/// the shortest run that suffices (first of equals); where none does, the longest run whole, and so
/// on for the rest. Requires that there are `wanted` candidates.  O(runs^2) at worst.
class BestFit {
 public:
  void choose(const NodeBits& candidates, int wanted, NodeBits& chosen);

 private:
  struct Run {
    int first, length;
  };
  std::vector<Run> runs_;  // scratch, kept so that nothing is allocated
};

/// Scheduling weights of nodes: runs of less weight come first.
using Weights = std::vector<std::uint64_t>;

/// That of a node without GPUs for a job; each GPU makes it one less.
inline std::uint64_t scheduling_weight(int weight) {
  return static_cast<std::uint64_t>(weight) * 256 + 255;
}

/// Nodes that have something for a job, and which of them it gets.
class Candidates {
 public:
  /// Those of `nodes`, as `free` is.  A job with GPUs sets the weights of nodes that have something
  /// for it.  Requires that all but `free` and `weights` outlive what follows.  O(nodes).
  void gather(const Machine& machine, const Job& job, const NodeBits& nodes,
              const FreeResources& free, Weights& weights);
  /// A job has gone from that node of `nodes`, which has no less than before.  O(types of GPUs).
  void update(int node, const FreeResources& free, Weights& weights);
  /// What the job has of each of its nodes, into `chosen`; whether there are enough.  O(nodes +
  /// runs^2), and once more for each count of cores below which nodes have to be left out; O(1)
  /// where they do not have enough together.
  bool choose(const FreeResources& free, const Weights& weights, Shares& chosen);

 private:
  friend class NodeSelection;
  struct Candidate {
    int node, cores, gpus;
    std::uint64_t weight;
  };
  // Neighbours of one weight: candidates [first, last).
  struct WeightRun {
    int first, last;
    int cores, gpus;
  };

  bool add(int node, NodeFit before, const FreeResources& free, Weights& weights);
  bool are_enough() const;
  void build_runs(const Weights& weights);
  void append(const Candidate& one);

  const Machine* machine_ = nullptr;
  const Job* job_ = nullptr;
  bool needs_only_cores_ = false;     // nothing but free cores decides
  NodeBits usable_nodes_;             // nodes that have something
  std::vector<NodeFit> fit_by_node_;  // of those
  int count_ = 0, max_cores_ = 0;     // of them; cores of the one that has most
  std::int64_t cores_ = 0, gpus_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<WeightRun> runs_;
};

}  // namespace cosched::slurm
