// Limits of associations and QOS: who may be looked at, and who may start (RULES.md 14).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

class Policy {
 public:
  /// Requires that `scenario` outlives it.
  explicit Policy(const Scenario& scenario);

  /// Before nodes are looked for: numbers of jobs, and nodes that it could never have.
  bool may_try(int job) const { return !any_ || looks_at(job); }
  /// On so many nodes, beside what runs.
  bool may_start(int job, int nodes) const { return !any_ || lets_start(job, nodes); }
  void start(int job, int nodes) {
    if (any_) count(job, nodes, 1);
  }
  void end(int job, int nodes) {
    if (any_) count(job, -nodes, -1);
  }

 private:
  struct Count {
    int nodes = 0, jobs = 0;
  };
  bool looks_at(int job) const;
  bool lets_start(int job, int nodes) const;
  void count(int job, int nodes, int jobs);
  Count of_user(int job) const;
  const Limits& qos(int job) const;
  /// Calls allows(limit, used) for each limit on nodes that holds for the job; whether all do.
  template <class Allows>
  bool nodes_allowed(int job, Allows allows) const;

  const Scenario& scenario_;
  const bool any_;                              // there are accounts or QOS
  std::vector<Count> by_association_, by_qos_;  // accounts count all below them
  std::map<std::pair<int, int>, Count> by_qos_and_user_;
};

}  // namespace cosched::cluster::slurm
