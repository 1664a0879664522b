// Which of the nodes that have something for a job it gets: select/cons_tres over nodes (RULES.md
// 8).
#pragma once

#include "cosched/slurm/select/node_fit.hpp"
#include "cosched/slurm/select/node_selection.hpp"

namespace cosched::slurm {

/// Scheduling weights of nodes: runs of less weight come first.
using Weights = std::vector<std::uint64_t>;

/// The weight of a node without GPUs for a job; each GPU makes it one less.
inline std::uint64_t scheduling_weight(int weight) {
  return static_cast<std::uint64_t>(weight) * 256 + 255;
}

/// Nodes that have something for a job, and which of them it gets.
class Candidates {
 public:
  /// Gathers the candidates among `nodes`.  A job with GPUs sets the weights of nodes that have
  /// something for it.  Requires that machine and job outlive the calls of the other functions.
  /// O(nodes).
  void gather(const Machine& machine, const Job& job, const NodeBits& nodes,
              const FreeResources& free_resources, Weights& weights);
  /// Another job has released its part of that node of `nodes`, which has no less than before.
  /// O(types of GPUs).
  void update(int node, const FreeResources& free_resources, Weights& weights);
  /// Chooses among the candidates; `shares` gets the job's part of each node.  Returns whether
  /// there are enough.  O(nodes + runs^2), and once more for each count of cores below which nodes
  /// have to be left out; O(1) where all nodes together do not have enough.
  bool choose(const FreeResources& free_resources, const Weights& weights, Shares& shares);

 private:
  bool add(int node, NodeFit previous_fit, const FreeResources& free_resources, Weights& weights);
  bool have_enough() const;
  void build_runs(const Weights& weights);
  void append(const Candidate& candidate);
  bool select_nodes(std::vector<Share>& shares);
  bool remove_small_candidates(int max_size);

  const Machine* machine_ = nullptr;
  const Job* job_ = nullptr;
  bool needs_only_cores_ = false;     // nothing but free cores decides
  NodeBits usable_nodes_;             // nodes that have something for the job
  std::vector<NodeFit> fit_by_node_;  // of usable nodes
  int usable_count_ = 0;
  int max_cores_ = 0;       // of the usable node that has most
  std::int64_t cores_ = 0;  // of all usable nodes
  std::int64_t gpus_ = 0;   // of all usable nodes
  std::vector<Candidate> candidates_;
  std::vector<WeightRun> runs_;
};

}  // namespace cosched::slurm
