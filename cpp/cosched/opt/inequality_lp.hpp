// A linear programme whose rows are inequalities and whose variables are free.
#pragma once

#include <utility>
#include <vector>

namespace cosched::opt {

/// Rows by their nonzero entries.  There may be many rows with few entries; rows with many entries
/// should be few.
struct InequalityLp {
  std::vector<double> cost;  ///< of each column
  std::vector<int> begin{0}, column;
  std::vector<double> value, right;

  int columns() const { return static_cast<int>(cost.size()); }
  int rows() const { return static_cast<int>(right.size()); }
  /// Adds a row with entries (column, value) of distinct columns; returns its number.
  int add_row(const std::vector<std::pair<int, double>>& entries, double right_of);
  /// The value of a row at a point: its row of G z.
  double row_value(int row, const std::vector<double>& point) const;
};

}  // namespace cosched::opt
