#include "cosched/opt/interior_point.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::opt {
namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

constexpr int kMaxSteps = 100;
constexpr int kMaxStepsWithoutProgress = 8;  // steps without progress
constexpr double kBoundaryShare = 0.995;     // share of the way to the boundary that a step takes

// With the work that its pattern asks for.
struct WorkedFactors : Eigen::SimplicialLDLT<Sparse, Eigen::Lower> {
  double work() const { return m_nonZerosPerCol.cast<double>().squaredNorm(); }
  double entries() const { return m_nonZerosPerCol.cast<double>().sum(); }
};

// G' D G = S + U D_U U', S from rows with few entries; the others are the columns of U.
class NormalEquations {
 public:
  explicit NormalEquations(const InequalityLp& lp) : lp_(lp) {
    const int max_sparse_entries = 12 + static_cast<int>(2 * std::sqrt(lp.columns()));
    std::vector<char> is_covered(lp.columns(), 0);  // S must not be singular
    for (int row = 0; row < lp.rows(); ++row) {
      const int* first = lp.column.data() + lp.begin[row];
      const int* last = lp.column.data() + lp.begin[row + 1];
      const bool is_sparse = last - first <= max_sparse_entries ||
                             std::any_of(first, last, [&](int k) { return !is_covered[k]; });
      if (is_sparse) {
        sparse_rows_.push_back(row);
        std::for_each(first, last, [&](int k) { is_covered[k] = 1; });
      } else {
        dense_rows_.push_back(row);
      }
    }
    std::vector<Eigen::Triplet<double>> pattern;
    for (const int row : sparse_rows_)
      visit_pairs(row, [&](int a, int b, double) { pattern.emplace_back(a, b, 1.0); });
    for (int col = 0; col < lp.columns(); ++col) pattern.emplace_back(col, col, 1.0);
    matrix_.resize(lp.columns(), lp.columns());
    matrix_.setFromTriplets(pattern.begin(), pattern.end());
    for (const int row : sparse_rows_)
      visit_pairs(row, [&](int a, int b, double product) {
        const int* rows = matrix_.innerIndexPtr();
        const int* first = rows + matrix_.outerIndexPtr()[b];
        const int* last = rows + matrix_.outerIndexPtr()[b + 1];
        entry_products_.emplace_back(static_cast<int>(std::lower_bound(first, last, a) - rows),
                                     product);
      });
    factors_.analyzePattern(matrix_);
  }

  // Multiplications, and what it takes to build the matrix in about as many.
  double work() const {
    return factors_.work() + 60.0 * static_cast<double>(entry_products_.size()) +
           4.0 * static_cast<double>(dense_rows_.size()) * factors_.entries();
  }

  /// False: the matrix is not positive definite, by rounding.
  bool factorise(const Vector& weight) {
    double* entries = matrix_.valuePtr();
    std::fill(entries, entries + matrix_.nonZeros(), 0.0);
    std::size_t k = 0;
    for (const int row : sparse_rows_)
      for (int remaining_pairs = pair_count(row); remaining_pairs > 0; --remaining_pairs, ++k)
        entries[entry_products_[k].first] += weight[row] * entry_products_[k].second;
    // Relative; keeps the matrix positive definite in spite of rounding.
    constexpr double kRegularisation = 1e-13;
    for (int col = 0; col < lp_.columns(); ++col) matrix_.coeffRef(col, col) *= 1 + kRegularisation;
    factors_.factorize(matrix_);
    if (factors_.info() != Eigen::Success) return false;
    if (dense_rows_.empty()) return true;
    const auto count = static_cast<Eigen::Index>(dense_rows_.size());
    dense_columns_.setZero(lp_.columns(), count);
    for (Eigen::Index d = 0; d < count; ++d)
      for (int e = lp_.begin[dense_rows_[d]]; e < lp_.begin[dense_rows_[d] + 1]; ++e)
        dense_columns_(lp_.column[e], d) += lp_.value[e] * std::sqrt(weight[dense_rows_[d]]);
    solved_columns_ = factors_.solve(dense_columns_);
    Eigen::MatrixXd inner = dense_columns_.transpose() * solved_columns_;
    inner.diagonal().array() += 1;
    inner_factors_.compute(inner);
    return inner_factors_.info() == Eigen::Success;
  }

  Vector solve(const Vector& right) const {
    Vector solution = factors_.solve(right);
    if (!dense_rows_.empty())
      solution -= solved_columns_ * inner_factors_.solve(dense_columns_.transpose() * solution);
    return solution;
  }

 private:
  int pair_count(int row) const {
    const int count = lp_.begin[row + 1] - lp_.begin[row];
    return count * (count + 1) / 2;
  }
  // Entries of the lower triangle that a row adds to.
  template <class Visit>
  void visit_pairs(int row, const Visit& visit) const {
    for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
      for (int l = lp_.begin[row]; l <= k; ++l)
        visit(std::max(lp_.column[k], lp_.column[l]), std::min(lp_.column[k], lp_.column[l]),
              lp_.value[k] * lp_.value[l]);
  }

  const InequalityLp& lp_;
  std::vector<int> sparse_rows_, dense_rows_;
  Sparse matrix_;  // lower triangle of S
  std::vector<std::pair<int, double>> entry_products_;
  WorkedFactors factors_;
  Eigen::MatrixXd dense_columns_, solved_columns_;
  Eigen::LLT<Eigen::MatrixXd> inner_factors_;
};

class InteriorMethod {
 public:
  InteriorMethod(const InequalityLp& lp, const std::vector<double>& start)
      : lp_(lp),
        equations_(lp),
        z_(Eigen::Map<const Vector>(start.data(), lp.columns())),
        cost_(Eigen::Map<const Vector>(lp.cost.data(), lp.columns())),
        slack_(multiply(z_) - Eigen::Map<const Vector>(lp.right.data(), lp.rows())) {}

  InteriorPoint run(const InteriorOptions& options) {
    InteriorPoint best = make_point();
    best.prices.clear();
    if (equations_.work() > options.max_multiplications) return best;
    start_prices();
    double error = kInfinity, work = equations_.work();
    int steps_without_progress = 0;  // steps since the best
    for (int step = 0; step < kMaxSteps && steps_without_progress < kMaxStepsWithoutProgress;
         ++step) {
      check_interrupt();
      if (!take_step()) break;
      work += equations_.work();
      InteriorPoint point = make_point();
      const double residual = (cost_ - multiply_transposed(price_)).lpNorm<Eigen::Infinity>();
      const double point_error = std::max(std::abs(point.gap), residual);
      ++steps_without_progress;
      if (point_error < error) {
        error = point_error;
        steps_without_progress = 0;
        best = std::move(point);
        best.is_converged = error <= options.tolerance;
        if (best.is_converged || (options.stop && options.stop(best))) break;
      }
    }
    best.multiplications = work;
    return best;
  }

 private:
  void start_prices() {
    // Mehrotra's start for the prices: the least that satisfy w G = c, moved to be positive.
    price_ = Vector::Ones(lp_.rows());
    if (equations_.factorise(price_)) price_ = multiply(equations_.solve(cost_));
    price_.array() += std::max(0.0, -1.5 * price_.minCoeff());
    constexpr double kLeastPriceSum = 1e-3;  // of all rows together
    price_.array() +=
        std::max(kLeastPriceSum / lp_.rows(), 0.5 * price_.dot(slack_) / slack_.sum());
  }

  Vector multiply(const Vector& z) const {  // G z
    Vector result(lp_.rows());
    for (int row = 0; row < lp_.rows(); ++row) {
      double sum = 0;
      for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
        sum += lp_.value[k] * z[lp_.column[k]];
      result[row] = sum;
    }
    return result;
  }
  Vector multiply_transposed(const Vector& w) const {  // w G
    Vector result = Vector::Zero(lp_.columns());
    for (int row = 0; row < lp_.rows(); ++row)
      for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
        result[lp_.column[k]] += lp_.value[k] * w[row];
    return result;
  }

  InteriorPoint make_point() const {
    InteriorPoint point;
    point.point.assign(z_.data(), z_.data() + z_.size());
    point.prices.assign(price_.data(), price_.data() + price_.size());
    point.value = cost_.dot(z_);
    if (price_.size() == 0) return point;
    const double dual = price_.dot(Eigen::Map<const Vector>(lp_.right.data(), lp_.rows()));
    point.gap = (point.value - dual) / std::max(1.0, std::abs(point.value));
    return point;
  }

  // Largest step, at most 1, that keeps x + step dx >= 0.
  static double longest_step(const Vector& x, const Vector& dx) {
    double step = 1 / kBoundaryShare;
    for (Eigen::Index k = 0; k < x.size(); ++k)
      if (dx[k] < 0) step = std::min(step, -x[k] / dx[k]);
    return std::min(1.0, kBoundaryShare * step);
  }

  // False: rounding spoils the step.
  bool take_step() {
    const double count = static_cast<double>(lp_.rows());
    const double mean = slack_.dot(price_) / count;
    const Vector weight = price_.cwiseQuotient(slack_);
    if (!equations_.factorise(weight)) return false;
    const Vector residual = cost_ - multiply_transposed(price_);
    Vector dz, ds, dw;
    const auto direction = [&](const Vector& target) {  // slack dw + price ds = target
      const Vector right = multiply_transposed(target.cwiseQuotient(slack_)) - residual;
      dz = equations_.solve(right);
      dz += equations_.solve(right -
                             multiply_transposed(weight.cwiseProduct(multiply(dz))));  // refined
      ds = multiply(dz);
      dw = (target - price_.cwiseProduct(ds)).cwiseQuotient(slack_);
    };
    const Vector product = slack_.cwiseProduct(price_);
    direction(-product);
    const double primal = longest_step(slack_, ds), dual = longest_step(price_, dw);
    const double after = (slack_ + primal * ds).dot(price_ + dual * dw) / count;
    const double centring = std::pow(std::max(0.0, after / mean), 3);
    direction(Vector::Constant(lp_.rows(), centring * mean) - product - ds.cwiseProduct(dw));
    if (!dz.allFinite() || !dw.allFinite()) return false;
    const double step = longest_step(slack_, ds), price_step = longest_step(price_, dw);
    z_ += step * dz;
    price_ += price_step * dw;
    slack_ = multiply(z_) - Eigen::Map<const Vector>(lp_.right.data(), lp_.rows());
    if (slack_.minCoeff() > 0) return true;
    z_ -= step * dz;  // what rounding has made of it
    slack_ = multiply(z_) - Eigen::Map<const Vector>(lp_.right.data(), lp_.rows());
    return false;
  }

  const InequalityLp& lp_;
  NormalEquations equations_;
  Vector z_, cost_, slack_, price_;
};

}  // namespace

InteriorPoint solve_interior(const InequalityLp& lp, const std::vector<double>& start,
                             const InteriorOptions& options) {
  COSCHED_ASSERT(static_cast<int>(start.size()) == lp.columns());
  return InteriorMethod(lp, start).run(options);
}

}  // namespace cosched::opt
