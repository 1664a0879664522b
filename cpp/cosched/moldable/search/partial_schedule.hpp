// The first jobs of a schedule, as far as the jobs that follow have to know them.
#pragma once

#include <span>

#include "cosched/moldable/search/job_set.hpp"

namespace cosched::moldable::search {

/// From `time` on, `procs` more processors are free.
struct FreeStep {
  double time;
  int procs;
};

/// The jobs that have started, in the order of their starts, and the processors that they leave
/// free.
///
/// Example: on 4 processors, with one job on 3 processors from 0 to 5 and another on 1 processor
/// from 0 to 2, the free steps are {2, 1}, {5, 3}: one processor from time 2 on, all from 5 on.
struct PartialSchedule {
  JobSet started_jobs;
  double started_cost;                   // sum w_j C_j of the jobs that have started (minsum)
  std::span<const FreeStep> free_steps;  // by increasing time; together all m processors
};

}  // namespace cosched::moldable::search
