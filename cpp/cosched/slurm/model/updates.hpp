// When slurmctld's tables last changed: what tells a backfill cycle of "more work" (RULES.md 3.2).
#pragma once

#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

struct Updates {
  Second jobs, nodes;  // last_job_update, last_node_update

  void both(Second now) { jobs = nodes = now; }
  bool since(Second moment) const { return jobs >= moment || nodes >= moment; }
};

}  // namespace cosched::slurm
