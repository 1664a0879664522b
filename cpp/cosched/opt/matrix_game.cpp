#include "cosched/opt/matrix_game.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::opt {

void MatrixGame::solve() {
  COSCHED_ASSERT(!entries_.empty());
  if (basis_.empty()) set_first_basis();
  scale_ = columns().cwiseAbs().maxCoeff();
  if (scale_ == 0) scale_ = 1;
  last_position_ = -1;
  for (int pivots = 0; pivots < kMaxPivots && pivot(); ++pivots) {
  }
  double sum = 0;
  for (double& price : prices_) {
    price = std::max(0.0, price);
    sum += price;
  }
  for (double& price : prices_) price /= sum;
  combination_.assign(columns().cols(), 0.0);
  sum = 0;
  for (int p = 0; p <= rows_; ++p) {
    const int t = basis_[p] - value_variable() - 1;
    if (t < 0) continue;
    combination_[t] = std::max(0.0, point_[p]);
    sum += combination_[t];
  }
  for (double& weight : combination_) weight /= sum;
}

// The first column alone: its largest row has no slack.
void MatrixGame::set_first_basis() {
  const auto first = entries_.begin();
  const int top = static_cast<int>(std::max_element(first, first + rows_) - first);
  for (int r = 0; r < rows_; ++r)
    if (r != top) basis_.push_back(r);
  basis_.push_back(value_variable());
  basis_.push_back(value_variable() + 1);
}

Eigen::VectorXd MatrixGame::coefficients(int variable) const {
  Eigen::VectorXd row_entries = Eigen::VectorXd::Zero(rows_ + 1);
  if (variable < rows_) {
    row_entries[variable] = -1;
  } else if (variable == value_variable()) {
    row_entries.head(rows_).setOnes();
  } else {
    row_entries.head(rows_) = columns().col(variable - rows_ - 1) / -scale_;
    row_entries[rows_] = 1;
  }
  return row_entries;
}

// False: the basis is singular, and all stays as it was.
bool MatrixGame::factorise() {
  Eigen::MatrixXd matrix(rows_ + 1, rows_ + 1);
  for (int p = 0; p <= rows_; ++p) matrix.col(p) = coefficients(basis_[p]);
  if (!invert_if_regular(matrix, kSingularPivot, inverse_)) return false;
  point_ = inverse_.col(rows_);  // right-hand side (0, ..., 0, 1)
  return true;
}

// The nonbasic variable of least reduced cost; -1 where none improves.
int MatrixGame::choose_entering(const Eigen::VectorXd& multiplier) const {
  const Eigen::VectorXd column_costs =
      (columns().transpose() * multiplier.head(rows_) / scale_).array() - multiplier[rows_];
  int best = -1;
  double least = -kImprovingReducedCost;
  const auto consider = [&](int variable, double reduced) {
    if (reduced >= least || std::find(basis_.begin(), basis_.end(), variable) != basis_.end())
      return;
    least = reduced;
    best = variable;
  };
  for (int r = 0; r < rows_; ++r) consider(r, multiplier[r]);
  for (int t = 0; t < column_costs.size(); ++t) consider(value_variable() + 1 + t, column_costs[t]);
  return best;
}

// The position in the basis that `variable` takes over, ties by number; -1: nothing blocks it.
int MatrixGame::choose_leaving(int variable) const {
  const Eigen::VectorXd change = inverse_ * coefficients(variable);
  int best = -1;
  double step = kInfinity;
  for (int p = 0; p <= rows_; ++p) {
    if (basis_[p] == value_variable() || change[p] <= kLeastChange) continue;  // the value is free
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
    if (last_position_ < 0) throw SolverError("matrix game: singular basis");
    basis_[last_position_] = last_leaving_;
    last_position_ = -1;
    return false;
  }
  // Only `value` has a cost, 1: the multipliers are its row of the inverse.
  const auto place = std::find(basis_.begin(), basis_.end(), value_variable()) - basis_.begin();
  const Eigen::VectorXd multiplier = inverse_.row(place);
  value_ = point_[place] * scale_;
  prices_.assign(multiplier.begin(), multiplier.end() - 1);
  const int variable = choose_entering(multiplier);
  if (variable < 0) return false;
  const int position = choose_leaving(variable);
  if (position < 0) return false;  // only rounding: the game is bounded
  last_leaving_ = basis_[position];
  basis_[position] = variable;
  last_position_ = position;
  return true;
}

}  // namespace cosched::opt
