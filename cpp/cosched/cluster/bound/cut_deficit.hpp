// The work that a set of intervals cannot do, as a function of S.
#pragma once

#include <vector>

#include "cosched/cluster/bound/stretch_kernel.hpp"

namespace cosched::cluster::bound {

/// For the set U(S) of segments whose borders move with S:
///   deficit(S) = sum_j q_j max(0, p_j - |window_j \ U|) - P |U|.
/// Any set with a positive deficit proves S infeasible (job j must run p_j - |window_j \ U|
/// seconds inside U).  Piecewise linear and continuous in S.
class CutDeficit {
 public:
  /// Segment k of U is [begins[k], ends[k]).  Keeps a reference to the jobs.
  CutDeficit(const std::vector<StretchJob>& jobs, double nodes, std::vector<IntervalBorder> begins,
             std::vector<IntervalBorder> ends);

  struct DeficitValue {
    double deficit;
    double slope;  // to the right of S
    double scale;  // P |U|
  };
  /// O(k log k + n log k), k = segments.
  DeficitValue operator()(double stretch) const;

 private:
  // A maximal segment of U at the current S, with the speeds of its borders, and sums over
  // the segments before it.
  struct MovingSegment {
    double begin;
    double end;
    double begin_speed;
    double end_speed;
    double measure_before;
    double measure_speed_before;
  };
  // |U before a time| and its derivative with respect to S.
  struct MovingMeasure {
    double value;
    double speed;
  };
  std::vector<MovingSegment> merge_segments(double stretch) const;
  // For a time that moves at `speed`.
  static MovingMeasure measure_before(const std::vector<MovingSegment>& segments, double time,
                                      double speed);

  const std::vector<StretchJob>& jobs_;
  double nodes_;
  std::vector<IntervalBorder> begins_;
  std::vector<IntervalBorder> ends_;
};

/// The largest S' >= stretch with deficit(S') >= 0 that is found, up to rounding: the deficit's
/// first root right of `stretch`.  Requires deficit(stretch) > 0.
double find_cut_root(const CutDeficit& deficit, double stretch);

}  // namespace cosched::cluster::bound
