#include "cosched/opt/matrix_game.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/inverse.hpp"

namespace cosched::opt {
namespace {

constexpr double kImproving = 1e-13;  // reduced cost, relative to the largest entry of the game
constexpr double kChange = 1e-12;     // of a basic variable that a step changes at all
constexpr double kSingular = 1e-14;   // pivot of a factorisation
constexpr int kMostPivots = 1000;

}  // namespace

void MatrixGame::add_column(const std::vector<double>& column) {
  entries_.insert(entries_.end(), column.begin(), column.end());
}

// The first column alone: its largest row has no slack.
void MatrixGame::begin() {
  const auto first = entries_.begin();
  const int top = static_cast<int>(std::max_element(first, first + rows_) - first);
  for (int r = 0; r < rows_; ++r)
    if (r != top) basis_.push_back(r);
  basis_.push_back(value_variable());
  basis_.push_back(value_variable() + 1);
}

Eigen::VectorXd MatrixGame::coefficients(int variable) const {
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
bool MatrixGame::factorise() {
  Eigen::MatrixXd matrix(rows_ + 1, rows_ + 1);
  for (int p = 0; p <= rows_; ++p) matrix.col(p) = coefficients(basis_[p]);
  if (!invert(matrix, kSingular, inverse_)) return false;
  point_ = inverse_.col(rows_);  // right-hand side (0, ..., 0, 1)
  return true;
}

// The nonbasic variable of least reduced cost; -1 where none improves.
int MatrixGame::entering(const Eigen::VectorXd& multiplier) const {
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

// The position in the basis that `variable` takes over, ties by number; -1 where nothing blocks it.
int MatrixGame::leaving(int variable) const {
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
bool MatrixGame::pivot() {
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

void MatrixGame::solve() {
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

}  // namespace cosched::opt
