#include "cosched/opt/matrix_game.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::opt {
namespace {

constexpr double kPivot = 1e-13;  // relative to the largest entry of the game

}  // namespace

MatrixGame::MatrixGame(int rows) : rows_(rows) {}

void MatrixGame::add_column(const std::vector<double>& column) { columns_.push_back(column); }

std::vector<double> MatrixGame::coefficients(int variable) const {
  std::vector<double> entries(rows_ + 1, 0.0);
  if (variable < rows_) {
    entries[variable] = -1;
  } else if (variable == rows_) {
    std::fill(entries.begin(), entries.end() - 1, 1.0);
  } else {
    const auto& column = columns_[variable - rows_ - 1];
    for (int r = 0; r < rows_; ++r) entries[r] = -column[r] / scale_;
    entries[rows_] = 1;
  }
  return entries;
}

// Gauss-Jordan with row pivoting: the basis has a dozen rows at most.
void MatrixGame::factorise() {
  const int k = rows_ + 1;
  std::vector<std::vector<double>> work(k, std::vector<double>(2 * k, 0.0));
  for (int c = 0; c < k; ++c) {
    const auto entries = coefficients(basis_[c]);
    for (int r = 0; r < k; ++r) work[r][c] = entries[r];
    work[c][k + c] = 1;
  }
  for (int c = 0; c < k; ++c) {
    int best = c;
    for (int r = c + 1; r < k; ++r)
      if (std::abs(work[r][c]) > std::abs(work[best][c])) best = r;
    if (std::abs(work[best][c]) < 1e-14) throw SolverError("matrix game: singular basis");
    std::swap(work[c], work[best]);
    const double pivot = work[c][c];
    for (double& entry : work[c]) entry /= pivot;
    for (int r = 0; r < k; ++r) {
      const double factor = work[r][c];
      if (r == c || factor == 0) continue;
      for (int j = c; j < 2 * k; ++j) work[r][j] -= factor * work[c][j];
    }
  }
  inverse_.assign(k, {});
  point_.assign(k, 0);
  for (int r = 0; r < k; ++r) {
    inverse_[r].assign(work[r].begin() + k, work[r].end());
    point_[r] = inverse_[r][k - 1];  // right-hand side (0, ..., 0, 1)
  }
}

// One primal simplex step; false at the optimum.
bool MatrixGame::pivot() {
  factorise();
  const int k = rows_ + 1;
  // Only `value` has a cost, 1: the multipliers are its row of the inverse.
  const int value_row =
      static_cast<int>(std::find(basis_.begin(), basis_.end(), rows_) - basis_.begin());
  const std::vector<double>& multiplier = inverse_[value_row];
  value_ = point_[value_row] * scale_;
  prices_.assign(multiplier.begin(), multiplier.end() - 1);

  int entering = -1;
  double least = -kPivot;
  for (int v = 0; v < rows_ + 1 + static_cast<int>(columns_.size()); ++v) {
    if (v == rows_) continue;
    double reduced = 0;
    const auto entries = coefficients(v);
    for (int r = 0; r < k; ++r) reduced -= multiplier[r] * entries[r];
    if (reduced < least && std::find(basis_.begin(), basis_.end(), v) == basis_.end()) {
      least = reduced;
      entering = v;
    }
  }
  if (entering < 0) return false;

  const auto entries = coefficients(entering);
  int leaving = -1;
  double step = kInfinity;
  for (int r = 0; r < k; ++r) {
    if (basis_[r] == rows_) continue;  // the value is free
    double change = 0;
    for (int j = 0; j < k; ++j) change += inverse_[r][j] * entries[j];
    if (change <= 1e-12) continue;
    const double ratio = std::max(0.0, point_[r]) / change;
    if (ratio < step || (ratio == step && basis_[r] < basis_[leaving])) {
      step = ratio;
      leaving = r;
    }
  }
  if (leaving < 0) return false;  // only rounding: the game is bounded
  basis_[leaving] = entering;
  return true;
}

void MatrixGame::solve() {
  if (basis_.empty()) {  // the first column alone: its largest row has no slack
    const auto& column = columns_.front();
    const int top =
        static_cast<int>(std::max_element(column.begin(), column.end()) - column.begin());
    for (int r = 0; r < rows_; ++r)
      if (r != top) basis_.push_back(r);
    basis_.push_back(rows_);
    basis_.push_back(rows_ + 1);
  }
  scale_ = 0;
  for (const auto& column : columns_)
    for (const double entry : column) scale_ = std::max(scale_, std::abs(entry));
  if (scale_ == 0) scale_ = 1;
  for (int pivots = 0; pivots < 1000 && pivot(); ++pivots) {
  }
  double sum = 0;
  for (double& price : prices_) sum += price = std::max(0.0, price);
  for (double& price : prices_) price /= sum;
  combination_.assign(columns_.size(), 0.0);
  sum = 0;
  for (int r = 0; r <= rows_; ++r)
    if (basis_[r] > rows_) sum += combination_[basis_[r] - rows_ - 1] = std::max(0.0, point_[r]);
  for (double& weight : combination_) weight /= sum;
}

}  // namespace cosched::opt
