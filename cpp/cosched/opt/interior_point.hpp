// Linear programmes whose normal equations are sparse, by an interior point method: Mehrotra's
// predictor and corrector, with sparse Cholesky factors of Eigen.
//
//   minimise c z   subject to   G z >= h,   z free
//   dual:  maximise h w   subject to   w G = c,   w >= 0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::opt {

/// Rows with few entries may be many; rows with many entries should be few.
struct InequalityLp {
  std::vector<double> cost;  // a number a column
  std::vector<int> begin{0}, column;
  std::vector<double> value, right;

  int columns() const { return static_cast<int>(cost.size()); }
  int rows() const { return static_cast<int>(right.size()); }
  /// Columns are distinct.  Returns the new row's number.
  int add_row(const std::vector<std::pair<int, double>>& entries, double right_of);
  /// G z of a row.
  double at(int row, const std::vector<double>& point) const;
};

struct InteriorPoint {
  std::vector<double> point;   // z, G z > h
  std::vector<double> prices;  // w > 0; w G = c up to what Newton's steps leave
  double value = 0;            // c z
  double gap = 0;              // c z - h w, relative to the larger of c z and 1
  bool converged = false;      // to the tolerance
  double work = 0;             // multiplications in factors, over all steps
};

/// Called after each step: true ends the search.
using InteriorStop = std::function<bool(const InteriorPoint&)>;

struct InteriorOptions {
  double tolerance = 1e-7;
  InteriorStop stop;
  double most_work =
      kInfinity;  // multiplications in the factors of one step: above, no step is taken
};

/// Requires `start` with G start > h, and a programme with an optimum whose entries are of the
/// order of
/// 1.  Ends at a relative gap and residual of `tolerance`, when `stop` says so, after 100 steps, or
/// where rounding spoils the steps (with degenerate optima at 1e-6 or so); whatever the end, the
/// point is feasible.  Without a step `prices` is empty.  O(fill of the factors) a step, and as
/// much for every row with many entries.
InteriorPoint solve_interior(const InequalityLp& lp, const std::vector<double>& start,
                             const InteriorOptions& options = {});

}  // namespace cosched::opt
