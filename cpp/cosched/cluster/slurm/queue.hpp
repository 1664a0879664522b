// Pending jobs in the order in which both schedulers try them (RULES.md 1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cosched/cluster/slurm/scenario.hpp"

namespace cosched::cluster::slurm {

class Queue {
 public:
  /// Requires that `scenario` outlives it.
  Queue(const Scenario& scenario, double controller_start);

  /// O(jobs pending).
  void add(int job, double time);
  /// Takes out the jobs for which gone(job).
  template <class Gone>
  void drop(Gone gone) {
    jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), gone), jobs_.end());
  }
  /// All priorities anew, once a PriorityCalcPeriod, where they change with time.
  void recalculate(double time);

  const std::vector<int>& jobs() const { return jobs_; }
  double priority(int job) const { return of_[static_cast<std::size_t>(job)].priority; }
  /// Too young or of too low priority to block others, or to have a reservation (RULES.md 2.5).
  bool holds_back(int job, Second now) const;
  /// Grows whenever a job comes or priorities change.
  std::int64_t changes() const { return changes_; }

 private:
  struct Submitted {
    double priority = 0;
    Second submit = 0;
  };
  bool before(int a, int b) const;

  const Scenario& scenario_;
  double controller_start_;
  std::vector<Submitted> of_;     // by job
  std::vector<int> jobs_;         // in order
  int submitted_ = 0;             // jobs so far
  std::int64_t calculated_ = -1;  // period of the last calculation
  std::int64_t changes_ = 0;
};

}  // namespace cosched::cluster::slurm
