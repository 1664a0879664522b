// Which jobs are suspended: those on cores that a job of a higher tier runs on (RULES.md 16.1,
// 16.2; gang.c of Slurm).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Gang {
 public:
  /// Requires that the scenario outlives it.
  explicit Gang(const Scenario& scenario) : scenario_(scenario) {}

  struct GangSwitch {
    int job;
    bool is_suspended;  // false: the job resumes
  };
  /// A job starts on its cores; returns the jobs that are suspended for it.
  std::vector<GangSwitch> start(QueueEntry entry, const NodeBits& cores);
  /// The epilog of the job is complete on all nodes; returns the jobs that resume.
  std::vector<GangSwitch> end(int job);

 private:
  struct GangJob {
    QueueEntry entry;
    NodeBits cores;
    bool is_suspended;
  };

  int tier(const GangJob& job) const { return scenario_.partition(job.entry).tier; }
  std::vector<GangSwitch> update_suspensions();

  const Scenario& scenario_;
  std::vector<GangJob> gang_jobs_;  // by decreasing tier, then as they started
};

}  // namespace cosched::slurm
