// The work that a set of intervals cannot hold, as a function of S.
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
  CutDeficit(const std::vector<StretchJob>& jobs, double nodes, std::vector<Border> begins,
             std::vector<Border> ends);

  struct Value {
    double deficit;
    double slope;  // to the right of S
    double scale;  // P |U|
  };
  /// O(k log k + n log k), k = segments.
  Value operator()(double stretch) const;

 private:
  // A maximal piece of U at the current S, with the speed of its borders, and sums over
  // the pieces before it.
  struct Piece {
    double begin, end, begin_speed, end_speed;
    double before, before_speed;
  };
  struct Measure {
    double value, speed;
  };
  std::vector<Piece> pieces(double stretch) const;
  static Measure measure(const std::vector<Piece>& pieces, double time, double speed);

  const std::vector<StretchJob>& jobs_;
  double nodes_;
  std::vector<Border> begins_, ends_;
};

/// Largest S' >= stretch found with deficit(S') >= 0, up to rounding: the deficit's first
/// root right of `stretch`.  Requires deficit(stretch) > 0.
double cut_root(const CutDeficit& deficit, double stretch);

}  // namespace cosched::cluster::bound
