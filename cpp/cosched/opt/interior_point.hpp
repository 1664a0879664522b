// Linear programmes whose normal equations are sparse, by an interior point method: Mehrotra's
// predictor and corrector, with sparse Cholesky factors of Eigen.
//
//   minimise c z   subject to   G z >= h,   z free
//   dual:  maximise h w   subject to   w G = c,   w >= 0
#pragma once

#include <functional>
#include <utility>
#include <vector>

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
};

/// Called after each step: true ends the search.
using InteriorStop = std::function<bool(const InteriorPoint&)>;

/// Requires `start` with G start > h, and a programme with an optimum whose entries are of the order of
/// 1.  Ends at a relative gap of `tolerance`, when `stop` says so, after 100 steps, or where rounding
/// spoils the steps; whatever the end, the point is feasible.  O(fill of the factors) a step, and as
/// much for every row with many entries.
InteriorPoint solve_interior(const InequalityLp& lp, const std::vector<double>& start,
                             double tolerance, const InteriorStop& stop = {});

}  // namespace cosched::opt
