// The intervals of Theorem 1 at a given S, and what is left of them.
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
struct Border {
  int job = 0;
  bool deadline = false;

  double at(const std::vector<StretchJob>& jobs, double stretch) const {
    return jobs[job].release + (deadline ? stretch * jobs[job].unit : 0);
  }
  double speed(const std::vector<StretchJob>& jobs) const { return deadline ? jobs[job].unit : 0; }
};

/// What remains to be decided: congested intervals and jobs that are not finished outside.
/// Interval k is [border_begin[k], border_end[k]).  Job i (number job[i] of the input) may
/// use intervals first[i] .. last[i]-1 and still needs left[i] seconds.
struct Residual {
  std::vector<Border> border_begin, border_end;
  std::vector<double> length;
  std::vector<int> job, first, last;
  std::vector<double> left;
};

/// An interval where the rates of all unfinished jobs alive sum to at most `nodes` is free
/// for all of them: each runs there at full rate; jobs finished thereby vanish; repeated
/// until nothing changes, in sweeps to and fro along which cascades run: O(n log n) each, and
/// a handful of them on logs where rounds would be 900.
Residual stretch_kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes);

// The work that a set of intervals cannot hold, as a function of S.

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
