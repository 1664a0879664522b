// One attempt to choose nodes for a job run by run: `_eval_nodes_consec` of cons_tres (RULES.md
// 8.3, 8.4).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// A node that has something for a job.
struct Candidate {
  int node;
  int cores;
  int gpus;
  std::uint64_t weight;
};

/// Neighbours by number of one weight: the candidates [first, last).
struct WeightRun {
  int first;
  int last;
  int cores;  // of all its nodes
  int gpus;   // of all its nodes
};

/// The most nodes that the job may get: no more than it has tasks.
int max_node_count(const Job& job);

class NodeSelection {
 public:
  /// Requires that all arguments outlive the selection.  `runs` loses the runs that are used up;
  /// `shares` gets the job's part of each chosen node.
  NodeSelection(const Job& job, const std::vector<Candidate>& candidates,
                std::vector<WeightRun>& runs, std::vector<Share>& shares);

  /// Chooses nodes; returns whether they are enough for the job.
  bool run();

 private:
  bool is_satisfied() const {
    return missing_nodes_ <= 0 && missing_cores_ <= 0 && missing_gpus_ <= 0;
  }
  bool is_sufficient(const WeightRun& run) const;
  bool is_better(const WeightRun& run, const WeightRun& best) const;
  std::vector<WeightRun>::iterator best_run();
  int tightest_single_node(const WeightRun& run) const;
  void add_nodes_of(const WeightRun& run);
  void add_node(const Candidate& candidate);

  const Job& job_;
  const std::vector<Candidate>& candidates_;
  std::vector<WeightRun>& runs_;
  std::vector<Share>& shares_;
  int missing_nodes_;
  int missing_cores_;
  int missing_gpus_;
  int remaining_nodes_;  // that the job may still get
};

}  // namespace cosched::slurm
