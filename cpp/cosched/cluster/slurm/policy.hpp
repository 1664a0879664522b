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
  bool may_try(int job) const;
  /// On so many nodes, beside what runs.
  bool may_start(int job, int nodes) const;
  void start(int job, int nodes) { count(job, nodes, 1); }
  void end(int job, int nodes) { count(job, -nodes, -1); }

 private:
  struct Count {
    int nodes = 0, jobs = 0;
  };
  void count(int job, int nodes, int jobs);
  Count of_user(int job) const;
  const Limits& qos(int job) const;
  /// Calls allows(limit, used) for each limit on nodes that holds for the job; whether all do.
  template <class Allows>
  bool nodes_allowed(int job, Allows allows) const;

  const Scenario& scenario_;
  std::vector<Count> by_association_, by_qos_;  // accounts count all below them
  std::map<std::pair<int, int>, Count> by_qos_and_user_;
};

}  // namespace cosched::cluster::slurm
