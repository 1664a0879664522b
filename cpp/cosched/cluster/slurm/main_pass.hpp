// The main scheduler's pass: jobs in order of the queue, now, until one of a partition does not fit
// (RULES.md 2.4 to 2.6).
#pragma once

#include <vector>

#include "cosched/cluster/slurm/select.hpp"
#include "cosched/cluster/slurm/tables.hpp"

namespace cosched::cluster::slurm {

/// Starts jobs; returns them.  `full`: looks at more than default_queue_depth jobs.
std::vector<int> main_pass(Tables& tables, Select& select, double time, bool full);

}  // namespace cosched::cluster::slurm
