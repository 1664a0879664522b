// What a slurmdbd brings: usage and Fair Tree, limits of groups of jobs (RULES.md 12).
#pragma once

#include <vector>

#include "cosched/cluster/slurm/allocations.hpp"

namespace cosched::cluster::slurm {

/// Usage of all associations, and the part that shares have in priorities.
class FairShare {
 public:
  /// Requires that `scenario` outlives it.
  explicit FairShare(const Scenario& scenario);

  bool counts() const { return !tree_.empty(); }
  /// The next pass over all associations.
  double due() const { return counts() ? last_ + period_ : kInfinity; }
  /// It is due: usage decays, running jobs are charged, and all have new factors.  O(associations log associations).
  void pass(const Allocations& allocations);
  /// A job that ran since `start` ends.
  void end(int job, Second start, double time);
  /// Of the job's priority.
  double part(int job) const;
  /// By association.
  const std::vector<Association>& tree() const { return tree_; }

 private:
  struct Rank {
    double now, next;
  };
  void charge(int job, Second start, double until);
  double level(const Association& one, double all_shares) const;
  void rank(int account, Rank& place, bool tied);

  const Scenario& scenario_;
  std::vector<Association> tree_;
  std::vector<std::vector<int>> children_;
  double users_ = 0, last_ = 0, period_, kept_;  // kept_: of usage, a second later
};

/// What jobs of groups have at the moment.
class GroupCounts {
 public:
  /// Requires that `scenario` outlives it.
  explicit GroupCounts(const Scenario& scenario);

  /// No group of the job would be over a limit.
  bool allow(int job) const;
  /// It starts (1) or ends (-1).
  void count(int job, int sign);

 private:
  const Scenario& scenario_;
  std::vector<Group> used_;
};

}  // namespace cosched::cluster::slurm
