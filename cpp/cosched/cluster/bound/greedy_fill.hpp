// A greedy fill of consecutive intervals with jobs' work, from left to right.
#pragma once

#include <vector>

#include "cosched/cluster/bound/interval_work.hpp"

namespace cosched::cluster::bound {

/// The job has `nodes` nodes in the intervals begin .. end-1.  A job may have several runs in one
/// interval.
struct FillRun {
  int job;
  int begin;
  int end;
  double nodes;
};

struct FillResult {
  std::vector<double> unserved;  // by job: what it still needs, node seconds
  std::vector<FillRun> runs;
};

/// In each interval first what must run now (what a job could not get later), then by deadline.
/// O(jobs that run, summed over intervals + n log n) time; memory for the runs.
FillResult fill_greedily(const IntervalWork& work);

}  // namespace cosched::cluster::bound
