// Jobs' work and the consecutive intervals in which it can be done.
#pragma once

#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {

/// Job i needs need[i] = rate[i] x seconds in intervals first[i] .. last[i]-1, at most
/// rate[i] x length[t] in interval t; interval t has room[t] for all jobs together.
struct IntervalWork {
  std::vector<double> length;  // by interval: seconds
  std::vector<double> room;    // by interval: node seconds
  std::vector<int> first;      // by job: its first interval
  std::vector<int> last;       // by job: the end of its intervals
  std::vector<double> rate;    // by job: nodes
  std::vector<double> need;    // by job: node seconds
};

/// What is left of a need counts as rounding below this.
inline double need_rounding(double need) { return need * kSumTolerance; }

}  // namespace cosched::cluster::bound
