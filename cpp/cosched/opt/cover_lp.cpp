#include "cosched/opt/cover_lp.hpp"

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::opt {
namespace {

// Entries of a direction up to this one are no pivots: they may be rounding errors of the inverse.
constexpr double kPivotTolerance = kExactTolerance;
// By how much right-hand sides rise at most, relative, so that few ratios are equal: large beside
// rounding errors, small beside what a bound loses.
constexpr double kPerturbation = 1e-6;
// Ratios that differ by what this amount of the leaving variable makes are a tie: less than
// kPivotTolerance, and far less than the perturbation.
constexpr double kTieAmount = 1e-10;
// Columns that one scan of all columns proposes for the next pivots.
constexpr int kMaxCandidates = 40;
// Pivots between two checks of the inverse, O(m^2) each as a pivot is.
constexpr int kCheckInterval = 100;
// Rows that are off by more, in tasks, and basic columns with a larger relative reduced cost have
// the inverse computed anew.
constexpr double kResidualTolerance = kExactTolerance;
// Columns of the inverse that are computed between two looks at the clock.
constexpr int kColumnsAtOnce = 64;
// A column of cost 0 exchanges at least this share of the largest dual value: values that are
// smaller still are rounding errors.
constexpr double kSmallDualShare = 1e-4;
// In the place of the number of a variable: there is none.  Columns are >= 0, slacks < 0.
constexpr int kNoVariable = std::numeric_limits<int>::max();

using ColumnMajor = Eigen::Map<Eigen::MatrixXd>;

}  // namespace

CoverLp::CoverLp(std::vector<double> right, double artificial_cost)
    : right_(std::move(right)), perturbed_right_(right_) {
  const int m = rows();
  Rng rng(1);  // the perturbation is part of the algorithm, not of the caller's chance
  for (double& b : perturbed_right_) b *= 1 + kPerturbation * rng.uniform();
  basis_.resize(m);
  is_slack_basic_.assign(m, 0);
  dual_.resize(m);
  basic_value_.resize(m);
  direction_.resize(m);
  inverse_.assign(static_cast<std::size_t>(m) * m, 0);
  for (int i = 0; i < m; ++i) {
    add_column(artificial_cost, {i});
    const bool starts_covered = right_[i] > 0;
    if (starts_covered)
      is_basic_[i] = 1;
    else
      is_slack_basic_[i] = 1;
    basis_[i] = starts_covered ? i : -1 - i;
    inverse_[static_cast<std::size_t>(i) * m + i] = starts_covered ? 1 : -1;
  }
  recompute_values();
}

int CoverLp::add_column(double cost, const std::vector<int>& rows,
                        const std::vector<double>& values) {
  cost_.push_back(cost);
  row_.insert(row_.end(), rows.begin(), rows.end());
  value_.insert(value_.end(), values.begin(), values.end());
  start_.push_back(static_cast<int>(row_.size()));
  is_basic_.push_back(0);
  return columns() - 1;
}

int CoverLp::add_column(double cost, const std::vector<int>& rows) {
  return add_column(cost, rows, std::vector<double>(rows.size(), 1.0));
}

double CoverLp::reduced_cost(int column) const {
  double reduced = cost_[column];
  for (int k = start_[column]; k < start_[column + 1]; ++k) reduced -= value_[k] * dual_[row_[k]];
  return reduced;
}

// Relative to the column's cost, or if it costs nothing to what it exchanges.  Values that are all
// rounding errors beside the largest are no exchange: on them the simplex would cycle.
double CoverLp::relative_reduced_cost(int column) const {
  double gain = 0, exchanged = 0;
  for (int k = start_[column]; k < start_[column + 1]; ++k) {
    const double part = value_[k] * dual_[row_[k]];
    gain += part;
    exchanged += std::abs(part);
  }
  const double scale =
      cost_[column] > 0 ? cost_[column] : std::max(exchanged, kSmallDualShare * largest_dual_);
  return scale > 0 ? (cost_[column] - gain) / scale : 0;
}

void CoverLp::collect_candidates(double tolerance) {
  std::vector<std::pair<double, int>> by_reduced_cost;
  for (int j = 0; j < columns(); ++j) {
    if (is_basic_[j]) continue;
    const double reduced = relative_reduced_cost(j);
    if (reduced < -tolerance) by_reduced_cost.emplace_back(reduced, j);
  }
  const auto candidate_count = std::min<std::size_t>(by_reduced_cost.size(), kMaxCandidates);
  std::partial_sort(by_reduced_cost.begin(),
                    by_reduced_cost.begin() + static_cast<std::ptrdiff_t>(candidate_count),
                    by_reduced_cost.end());
  candidates_.clear();
  for (std::size_t k = 0; k < candidate_count; ++k)
    candidates_.push_back(by_reduced_cost[k].second);
}

// Best of the proposed columns that is still worth entering; -1 when none is.
int CoverLp::best_candidate(double tolerance) {
  int best = -1;
  double least = -tolerance;
  std::size_t kept_count = 0;
  for (const int j : candidates_) {
    if (is_basic_[j]) continue;
    const double reduced = relative_reduced_cost(j);
    if (reduced >= -tolerance) continue;
    candidates_[kept_count] = j;
    ++kept_count;
    if (reduced < least) {
      least = reduced;
      best = j;
    }
  }
  candidates_.resize(kept_count);
  return best;
}

void CoverLp::find_largest_dual() {
  largest_dual_ = 0;
  for (const double y : dual_) largest_dual_ = std::max(largest_dual_, std::abs(y));
}

// A variable that improves the objective: a slack of negative dual value before any column, so
// that prices stay non-negative; kNoVariable when there is none.
int CoverLp::choose_entering(double tolerance) {
  find_largest_dual();
  int slack = -1;
  double least = -tolerance * largest_dual_;
  for (int i = 0; i < rows(); ++i)
    if (!is_slack_basic_[i] && dual_[i] < least) {
      least = dual_[i];
      slack = i;
    }
  if (slack >= 0) return -1 - slack;
  int column = best_candidate(tolerance);
  if (column < 0) {
    collect_candidates(tolerance);
    column = best_candidate(tolerance);
  }
  return column < 0 ? kNoVariable : column;
}

bool CoverLp::solve(double tolerance, std::int64_t max_pivots) {
  candidates_.clear();
  bool is_inverse_fresh = false;  // the inverse was just computed from the basis itself
  for (std::int64_t pivots = 0; pivots < max_pivots;) {
    const int variable = choose_entering(tolerance);
    if (variable != kNoVariable && pivot(variable)) {
      is_inverse_fresh = false;
      ++pivots;
      check_interrupt();
      continue;
    }
    // Optimal, or (against theory: costs are not negative) without a leaving variable.  Believe it
    // only of prices without the pivots' rounding errors.
    if (is_inverse_fresh) return variable == kNoVariable;
    recompute_values();
    const bool has_errors = variable != kNoVariable || residual() > kResidualTolerance ||
                            dual_residual() > kResidualTolerance;
    if (has_errors && !refactor()) return false;
    is_inverse_fresh = true;
  }
  return false;
}

bool CoverLp::pivot(int variable) {
  compute_direction(variable);
  const int row = choose_leaving();
  if (row < 0) return false;
  update_basis(variable, row);
  ++pivots_;
  ++pivots_since_check_;
  if (pivots_since_check_ >= kCheckInterval) {
    pivots_since_check_ = 0;
    if (residual() > kResidualTolerance) refactor();
  }
  return true;
}

// direction_ = B^-1 a.
void CoverLp::compute_direction(int variable) {
  const int m = rows();
  std::fill(direction_.begin(), direction_.end(), 0.0);
  const auto add = [&](int row, double value) {
    const double* column = &inverse_[static_cast<std::size_t>(row) * m];
    for (int i = 0; i < m; ++i) direction_[i] += value * column[i];
  };
  if (is_slack(variable)) {
    add(slack_row(variable), -1);
  } else {
    for (int k = start_[variable]; k < start_[variable + 1]; ++k) add(row_[k], value_[k]);
  }
}

// Ratio test; among ratios equal up to rounding, the largest pivot.
int CoverLp::choose_leaving() const {
  const int m = rows();
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < m; ++i)
    if (direction_[i] > kPivotTolerance)
      least = std::min(least, (std::max(basic_value_[i], 0.0) + kTieAmount) / direction_[i]);
  int best = -1;
  for (int i = 0; i < m; ++i)
    if (direction_[i] > kPivotTolerance &&
        std::max(basic_value_[i], 0.0) / direction_[i] <= least &&
        (best < 0 || direction_[i] > direction_[best]))
      best = i;
  return best;
}

void CoverLp::set_basic(int variable, bool is_basic) {
  if (is_slack(variable))
    is_slack_basic_[slack_row(variable)] = is_basic;
  else
    is_basic_[variable] = is_basic;
}

void CoverLp::update_basis(int variable, int row) {
  const int m = rows();
  const double reduced = is_slack(variable) ? dual_[slack_row(variable)] : reduced_cost(variable);
  const double pivot_value = direction_[row];
  const double step = std::max(basic_value_[row], 0.0) / pivot_value;
  for (int i = 0; i < m; ++i) basic_value_[i] -= step * direction_[i];
  basic_value_[row] = step;
  for (int c = 0; c < m; ++c) {
    double* column = &inverse_[static_cast<std::size_t>(c) * m];
    if (column[row] == 0) continue;
    const double factor = column[row] / pivot_value;
    for (int i = 0; i < m; ++i) column[i] -= factor * direction_[i];
    column[row] = factor;
    dual_[c] += reduced * factor;
  }
  const int leaving_variable = basis_[row];
  set_basic(leaving_variable, false);
  set_basic(variable, true);
  basis_[row] = variable;
}

// max_i |(B x_B - b)_i|.
double CoverLp::residual() const {
  std::vector<double> left_side(rows(), 0.0);
  for (int r = 0; r < rows(); ++r) {
    const int variable = basis_[r];
    if (is_slack(variable)) {
      left_side[slack_row(variable)] -= basic_value_[r];
    } else {
      for (int k = start_[variable]; k < start_[variable + 1]; ++k)
        left_side[row_[k]] += value_[k] * basic_value_[r];
    }
  }
  double worst = 0;
  for (int i = 0; i < rows(); ++i)
    worst = std::max(worst, std::abs(left_side[i] - perturbed_right_[i]));
  return worst;
}

// Largest reduced cost of a basic column, relative to its parts.
double CoverLp::dual_residual() const {
  double worst = 0;
  for (const int variable : basis_)
    if (!is_slack(variable)) worst = std::max(worst, std::abs(relative_reduced_cost(variable)));
  return worst;
}

// False when the basis was singular to working precision.
bool CoverLp::refactor() {
  const int m = rows();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(m, m);
  for (int r = 0; r < m; ++r) {
    const int variable = basis_[r];
    if (is_slack(variable)) {
      matrix(slack_row(variable), r) = -1;
    } else {
      for (int k = start_[variable]; k < start_[variable + 1]; ++k) matrix(row_[k], r) = value_[k];
    }
  }
  const Eigen::PartialPivLU<Eigen::MatrixXd> factors(matrix);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(m, m);
  for (int c = 0; c < m; c += kColumnsAtOnce) {
    check_interrupt();
    auto columns = inverse.middleCols(c, std::min(kColumnsAtOnce, m - c));
    columns = factors.solve(columns).eval();
  }
  if (!inverse.allFinite()) return false;
  ColumnMajor(inverse_.data(), m, m) = inverse;
  recompute_values();
  return true;
}

// Basic values and dual values from the inverse.
void CoverLp::recompute_values() {
  const int m = rows();
  Eigen::VectorXd costs(m);
  for (int r = 0; r < m; ++r) costs[r] = is_slack(basis_[r]) ? 0 : cost_[basis_[r]];
  const ColumnMajor inverse(inverse_.data(), m, m);
  const Eigen::Map<const Eigen::VectorXd> right(perturbed_right_.data(), m);
  Eigen::Map<Eigen::VectorXd>(basic_value_.data(), m) = inverse * right;
  Eigen::Map<Eigen::VectorXd>(dual_.data(), m) = inverse.transpose() * costs;
  find_largest_dual();
}

double CoverLp::objective() const {
  double sum = 0;
  for (int i = 0; i < rows(); ++i) sum += right_[i] * dual_[i];
  return sum;
}

std::vector<double> CoverLp::solution() const {
  const int m = rows();
  std::vector<double> basic(m, 0.0), x(columns(), 0.0);
  for (int i = 0; i < m; ++i) {
    const double* column = &inverse_[static_cast<std::size_t>(i) * m];
    for (int r = 0; r < m; ++r) basic[r] += right_[i] * column[r];
  }
  for (int r = 0; r < m; ++r)
    if (!is_slack(basis_[r])) x[basis_[r]] = std::max(0.0, basic[r]);
  return x;
}

std::vector<int> CoverLp::drop_columns(double max_reduced_cost) {
  std::vector<int> number(columns(), -1);
  int kept_columns = 0;
  std::vector<int> start{0};
  std::size_t length = 0;
  for (int j = 0; j < columns(); ++j) {
    if (j >= rows() && !is_basic_[j] && relative_reduced_cost(j) > max_reduced_cost) continue;
    number[j] = kept_columns;
    cost_[kept_columns] = cost_[j];
    is_basic_[kept_columns] = is_basic_[j];
    ++kept_columns;
    for (int k = start_[j]; k < start_[j + 1]; ++k, ++length) {
      row_[length] = row_[k];
      value_[length] = value_[k];
    }
    start.push_back(static_cast<int>(length));
  }
  cost_.resize(kept_columns);
  is_basic_.resize(kept_columns);
  row_.resize(length);
  value_.resize(length);
  start_ = std::move(start);
  for (int& variable : basis_)
    if (!is_slack(variable)) variable = number[variable];
  candidates_.clear();
  return number;
}

}  // namespace cosched::opt
