// The tables of slurmctld, and the life of a job in them (RULES.md 6).  Both schedulers read and
// change them; time is given.
#pragma once

#include <vector>

#include "cosched/cluster/slurm/allocations.hpp"
#include "cosched/cluster/slurm/journal.hpp"
#include "cosched/cluster/slurm/queue.hpp"
#include "cosched/cluster/slurm/updates.hpp"

namespace cosched::cluster::slurm {

struct Tables {
  /// Requires that `given` outlives it.
  Tables(const Scenario& given, double controller_start, const Record& record);

  void submit(int job, double time);
  void start(int job, const NodeBits& nodes, double time, Scheduler by);
  void end(int job, double time, bool killed);
  void epilog(int job, double time);

  /// Running jobs past their limits and OverTimeLimit, by (due, job).
  std::vector<int> overdue(Second now) const;
  /// CompleteWait: nobody is scheduled while a job that has just ended is completing.
  bool completing(Second now) const;

  const Scenario& scenario;
  Queue queue;
  Allocations allocations;
  Updates updates;
  Journal journal;
};

}  // namespace cosched::cluster::slurm
