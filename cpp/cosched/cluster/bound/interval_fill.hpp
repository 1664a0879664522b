// A greedy fill of consecutive intervals with jobs' work, from left to right.
#pragma once

#include <vector>

namespace cosched::cluster::bound {

/// Job i needs need[i] = rate[i] x seconds in intervals first[i] .. last[i]-1, at most
/// rate[i] x length[t] in interval t; interval t has room[t] for all.
struct IntervalWork {
  std::vector<double> length, room;  // by interval: seconds, node seconds
  std::vector<int> first, last;      // by job
  std::vector<double> rate, need;    // by job: nodes, node seconds
};

/// A need below this is rounding.
inline double need_rounding(double need) { return need * 1e-12; }

/// The job has `speed` nodes in the intervals begin .. end-1; there may be several of one.
struct Run {
  int job, begin, end;
  double speed;
};

struct Filled {
  std::vector<double> left;  // by job: what it still needs
  std::vector<Run> runs;
};

/// In each interval what must run now (what a job could not get later), then by deadline.
/// O(jobs that run, summed over intervals + n log n) time; memory for the runs.
Filled fill(const IntervalWork& work);

}  // namespace cosched::cluster::bound
