// Matrix game with few rows: the master problem of a column generation.
//
// With a warm basis GLPK takes 2.6 to 4 times as long on the masters of HLP, HiGHS 30 to 50 times
// (build/release/tests_cpp/simplex_bench, tests_py/bench/bench_simplex.py); their tolerances of 1e-7
// would also have to go, since the column generation ends at a gap of 1e-10.
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
  void solve() {
    if (basis_.empty()) begin();
    scale_ = columns().cwiseAbs().maxCoeff();
    if (scale_ == 0) scale_ = 1;
    entered_ = -1;
    for (int pivots = 0; pivots < kMostPivots && pivot(); ++pivots) {
    }
    double sum = 0;
    for (double& price : prices_) sum += price = std::max(0.0, price);
    for (double& price : prices_) price /= sum;
    combination_.assign(columns().cols(), 0.0);
    sum = 0;
    for (int p = 0; p <= rows_; ++p)
      if (const int t = basis_[p] - value_variable() - 1; t >= 0)
        sum += combination_[t] = std::max(0.0, point_[p]);
    for (double& weight : combination_) weight /= sum;
  }

  double value() const { return value_; }
  /// alpha_t >= 0, sum 1; at most `rows` of them are positive.
  const std::vector<double>& combination() const { return combination_; }
  /// pi_r >= 0, sum 1: sum_r pi_r column_t[r] >= value for every column t, up to rounding.
  const std::vector<double>& prices() const { return prices_; }

 private:
  static constexpr double kImproving = 1e-13;  // reduced cost, relative to the game's largest entry
  static constexpr double kChange = 1e-12;     // of a basic variable that a step changes at all
  static constexpr double kSingular = 1e-14;   // pivot of a factorisation
  static constexpr int kMostPivots = 1000;

  // Variables: 0..rows-1 the slacks (value - row), rows the value, rows + 1 + t alpha_t.
  // Constraints: row r: value - slack_r - sum_t alpha_t column_t[r] = 0; sum alpha = 1.
  int value_variable() const { return rows_; }
  Eigen::Map<const Eigen::MatrixXd> columns() const {
    return {entries_.data(), rows_, static_cast<Eigen::Index>(entries_.size()) / rows_};
  }
  // The first column alone: its largest row has no slack.
  void begin() {
    const auto first = entries_.begin();
    const int top = static_cast<int>(std::max_element(first, first + rows_) - first);
    for (int r = 0; r < rows_; ++r)
      if (r != top) basis_.push_back(r);
    basis_.push_back(value_variable());
    basis_.push_back(value_variable() + 1);
  }

  Eigen::VectorXd coefficients(int variable) const {
    Eigen::VectorXd of_rows = Eigen::VectorXd::Zero(rows_ + 1);
    if (variable < rows_) {
      of_rows[variable] = -1;
    } else if (variable == value_variable()) {
      of_rows.head(rows_).setOnes();
    } else {
      of_rows.head(rows_) = columns().col(variable - rows_ - 1) / -scale_;
      of_rows[rows_] = 1;
    }
    return of_rows;
  }

  // False: the basis is singular, and all stays as it was.
  bool factorise() {
    Eigen::MatrixXd matrix(rows_ + 1, rows_ + 1);
    for (int p = 0; p <= rows_; ++p) matrix.col(p) = coefficients(basis_[p]);
    if (!invert(matrix, kSingular, inverse_)) return false;
    point_ = inverse_.col(rows_);  // right-hand side (0, ..., 0, 1)
    return true;
  }

  // The nonbasic variable of least reduced cost; -1 where none improves.
  int entering(const Eigen::VectorXd& multiplier) const {
    const Eigen::VectorXd of_columns =
        (columns().transpose() * multiplier.head(rows_) / scale_).array() - multiplier[rows_];
    int best = -1;
    double least = -kImproving;
    const auto consider = [&](int variable, double reduced) {
      if (reduced >= least || std::find(basis_.begin(), basis_.end(), variable) != basis_.end())
        return;
      least = reduced;
      best = variable;
    };
    for (int r = 0; r < rows_; ++r) consider(r, multiplier[r]);
    for (int t = 0; t < of_columns.size(); ++t) consider(value_variable() + 1 + t, of_columns[t]);
    return best;
  }

  // The position in the basis that `variable` takes over, ties by number; -1: nothing blocks it.
  int leaving(int variable) const {
    const Eigen::VectorXd change = inverse_ * coefficients(variable);
    int best = -1;
    double step = kInfinity;
    for (int p = 0; p <= rows_; ++p) {
      if (basis_[p] == value_variable() || change[p] <= kChange) continue;  // the value is free
      const double ratio = std::max(0.0, point_[p]) / change[p];
      if (ratio < step || (ratio == step && basis_[p] < basis_[best])) {
        step = ratio;
        best = p;
      }
    }
    return best;
  }

  // One primal simplex step; false at the optimum.
  bool pivot() {
    if (!factorise()) {
      if (entered_ < 0) throw SolverError("matrix game: singular basis");
      basis_[entered_] = left_;
      entered_ = -1;
      return false;
    }
    // Only `value` has a cost, 1: the multipliers are its row of the inverse.
    const auto place = std::find(basis_.begin(), basis_.end(), value_variable()) - basis_.begin();
    const Eigen::VectorXd multiplier = inverse_.row(place);
    value_ = point_[place] * scale_;
    prices_.assign(multiplier.begin(), multiplier.end() - 1);
    const int variable = entering(multiplier);
    if (variable < 0) return false;
    const int position = leaving(variable);
    if (position < 0) return false;  // only rounding: the game is bounded
    left_ = std::exchange(basis_[position], variable);
    entered_ = position;
    return true;
  }

  int rows_;
  std::vector<double> entries_;   // of the columns, one after the other
  std::vector<int> basis_;        // rows + 1 variables, or empty
  Eigen::MatrixXd inverse_;       // of the basis matrix, whose columns have entries / scale_
  Eigen::VectorXd point_;         // values of the basic variables
  int entered_ = -1, left_ = -1;  // the last pivot: a place of the basis, and what it held
  double value_ = 0, scale_ = 1;
  std::vector<double> combination_, prices_;
};

}  // namespace cosched::opt
