// Matrix game with few rows: the master problem of a column generation.
//
// With a warm basis GLPK takes 2.6 to 4 times as long on the masters of HLP, HiGHS 30 to 50 times
// (build/release/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py); their tolerances of
// 1e-7 would also have to go, since the column generation ends at a gap of 1e-10.
#pragma once

#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/inverse.hpp"

namespace cosched::opt {

/// minimise over convex combinations of columns the largest row:
///   value = min over alpha of max over r of sum_t alpha_t column_t[r].
/// Columns are added one by one; the basis stays, so that a call after a few more columns
/// is a few pivots.  Rows are few (2 to about 10); O(rows^3 + rows columns) a pivot.
class MatrixGame {
 public:
  explicit MatrixGame(int rows) : rows_(rows) {}

  void add_column(const std::vector<double>& column) {
    entries_.insert(entries_.end(), column.begin(), column.end());
  }

  /// Requires at least one column.  Fills value, weights and rows' prices.  Where columns differ in
  /// size so much that rounding makes a basis singular, it stays at the one before.
  void solve();

  double value() const { return value_; }
  /// alpha_t >= 0, sum 1; at most `rows` of them are positive.
  const std::vector<double>& combination() const { return combination_; }
  /// pi_r >= 0, sum 1: sum_r pi_r column_t[r] >= value for every column t, up to rounding.
  const std::vector<double>& prices() const { return prices_; }

 private:
  // A column enters where its reduced cost is below minus this, relative to the largest entry: what
  // is above is a rounding error of the multipliers.
  static constexpr double kImprovingReducedCost = 1e-13;
  // A basic variable that a unit step changes by less is not changed by it.
  static constexpr double kLeastChange = kSumTolerance;
  // A factorisation with a smaller pivot is of a singular basis.
  static constexpr double kSingularPivot = 1e-14;
  // Of one solve(): a few for each new column are usual.
  static constexpr int kMaxPivots = 1000;

  // Variables: 0..rows-1 the slacks (value - row), rows the value, rows + 1 + t alpha_t.
  // Constraints: row r: value - slack_r - sum_t alpha_t column_t[r] = 0; sum alpha = 1.
  int value_variable() const { return rows_; }
  Eigen::Map<const Eigen::MatrixXd> columns() const {
    return {entries_.data(), rows_, static_cast<Eigen::Index>(entries_.size()) / rows_};
  }
  void set_first_basis();
  Eigen::VectorXd coefficients(int variable) const;
  bool factorise();
  int choose_entering(const Eigen::VectorXd& multiplier) const;
  int choose_leaving(int variable) const;
  bool pivot();

  int rows_;
  std::vector<double> entries_;  // of the columns, one after the other
  std::vector<int> basis_;       // rows + 1 variables, or empty
  Eigen::MatrixXd inverse_;      // of the basis matrix, whose columns have entries / scale_
  Eigen::VectorXd point_;        // values of the basic variables
  int last_position_ = -1,
      last_leaving_ = -1;  // the last pivot: a place of the basis, and what it held
  double value_ = 0, scale_ = 1;
  std::vector<double> combination_, prices_;
};

}  // namespace cosched::opt
