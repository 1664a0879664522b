// The intervals of Theorem 1 at a given S, and what remains of them to be decided.
#pragma once

#include <vector>

namespace cosched::cluster::bound {

/// A job of positive run time.
struct StretchJob {
  double release;  // r
  double runtime;  // p
  double unit;     // max(p, threshold): deadline = release + S unit
  double rate;     // q = c |T|, in nodes
};

/// A border of an interval: a job's release, or its deadline, which moves with S.
struct IntervalBorder {
  int job = 0;
  bool is_deadline = false;

  double time_at(const std::vector<StretchJob>& jobs, double stretch) const {
    return jobs[job].release + (is_deadline ? stretch * jobs[job].unit : 0);
  }
  /// Derivative of the time with respect to S.
  double speed(const std::vector<StretchJob>& jobs) const {
    return is_deadline ? jobs[job].unit : 0;
  }
};

/// What remains to be decided: congested intervals and jobs that are not finished outside.
/// Interval k is [border_begin[k], border_end[k]).  Job i (number job[i] of the input) may
/// use intervals first[i] .. last[i]-1 and still needs remaining[i] seconds.
struct StretchResidual {
  std::vector<IntervalBorder> border_begin;
  std::vector<IntervalBorder> border_end;
  std::vector<double> length;  // by interval, s
  std::vector<int> job;
  std::vector<int> first;
  std::vector<int> last;
  std::vector<double> remaining;
};

/// An interval where the rates of all unfinished jobs alive sum to at most `nodes` is free
/// for all of them: each runs there at full rate; jobs finished thereby vanish; repeated
/// until nothing changes, in sweeps to and fro along which cascades run: O(n log n) each, and
/// a handful of them on logs where rounds would be 900.
StretchResidual stretch_kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes);

}  // namespace cosched::cluster::bound
