// When slurmctld's tables last changed: a backfill cycle has "more work" after that (RULES.md 3.2).
#pragma once

#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

struct LastUpdates {
  Second last_job_update;
  Second last_node_update;

  void mark_both(Second now) {
    last_job_update = now;
    last_node_update = now;
  }
  /// True when jobs or nodes have changed at `time` or later.
  bool has_changed_since(Second time) const {
    return last_job_update >= time || last_node_update >= time;
  }
};

}  // namespace cosched::slurm
