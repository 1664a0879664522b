// Linear programmes whose normal equations are sparse, by an interior point method: Mehrotra's
// predictor and corrector, with sparse Cholesky factors of Eigen.
//
//   minimise c z   subject to   G z >= h,   z free
//   dual:  maximise h w   subject to   w G = c,   w >= 0
#pragma once

#include <functional>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/opt/inequality_lp.hpp"

namespace cosched::opt {

struct InteriorPoint {
  std::vector<double> point;   // z, G z > h
  std::vector<double> prices;  // w > 0; w G = c up to what Newton's steps leave
  double value = 0;            // c z
  double gap = 0;              // c z - h w, relative to the larger of c z and 1
  bool is_converged = false;   ///< to the tolerance
  double multiplications = 0;  ///< in the factors, over all steps
};

/// Called after each step; ends the search where it returns true.
using InteriorStop = std::function<bool(const InteriorPoint&)>;

struct InteriorOptions {
  double tolerance = 1e-7;
  InteriorStop stop;
  /// In the factors of one step; where a step needs more, none is taken.
  double max_multiplications = kInfinity;
};

/// Requires `start` with G start > h, and a programme with an optimum whose entries are of the
/// order of one.  Ends at a relative gap and residual of `tolerance`, where `stop` returns true,
/// after 100 steps, or where rounding errors spoil the steps (at degenerate optima from about
/// 1e-6); the point is feasible in any case.  Without a step `prices` is empty.  O(fill of the
/// factors) a step, and as much for every row with many entries.
InteriorPoint solve_interior(const InequalityLp& lp, const std::vector<double>& start,
                             const InteriorOptions& options = {});

}  // namespace cosched::opt
