#include "cosched/opt/interior_point.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "cosched/core/interrupt.hpp"

namespace cosched::opt {

int InequalityLp::add_row(const std::vector<std::pair<int, double>>& entries, double right_of) {
  for (const auto& [col, amount] : entries) {
    if (amount == 0) continue;
    column.push_back(col);
    value.push_back(amount);
  }
  begin.push_back(static_cast<int>(column.size()));
  right.push_back(right_of);
  return rows() - 1;
}

double InequalityLp::at(int row, const std::vector<double>& point) const {
  double sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += value[k] * point[column[k]];
  return sum;
}

namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

constexpr int kSteps = 100;
constexpr int kPatience = 8;           // steps without progress
constexpr double kToBoundary = 0.995;  // share of the way to the boundary that a step takes

// With the work that its pattern asks for.
struct Factors : Eigen::SimplicialLDLT<Sparse, Eigen::Lower> {
  double work() const { return m_nonZerosPerCol.cast<double>().squaredNorm(); }
  double entries() const { return m_nonZerosPerCol.cast<double>().sum(); }
};

// G' D G = S + U D_U U', S from rows with few entries; the others are the columns of U.
class NormalEquations {
 public:
  explicit NormalEquations(const InequalityLp& lp) : lp_(lp) {
    const int few = 12 + static_cast<int>(2 * std::sqrt(lp.columns()));
    std::vector<char> covered(lp.columns(), 0);  // S must not be singular
    for (int row = 0; row < lp.rows(); ++row) {
      const int* first = lp.column.data() + lp.begin[row];
      const int* last = lp.column.data() + lp.begin[row + 1];
      const bool needed =
          last - first <= few || std::any_of(first, last, [&](int k) { return !covered[k]; });
      (needed ? sparse_ : dense_).push_back(row);
      if (needed) std::for_each(first, last, [&](int k) { covered[k] = 1; });
    }
    std::vector<Eigen::Triplet<double>> pattern;
    for (const int row : sparse_)
      pairs(row, [&](int a, int b, double) { pattern.emplace_back(a, b, 1.0); });
    for (int col = 0; col < lp.columns(); ++col) pattern.emplace_back(col, col, 1.0);
    matrix_.resize(lp.columns(), lp.columns());
    matrix_.setFromTriplets(pattern.begin(), pattern.end());
    for (const int row : sparse_)
      pairs(row, [&](int a, int b, double product) {
        const int* rows = matrix_.innerIndexPtr();
        const int* first = rows + matrix_.outerIndexPtr()[b];
        const int* last = rows + matrix_.outerIndexPtr()[b + 1];
        places_.emplace_back(static_cast<int>(std::lower_bound(first, last, a) - rows), product);
      });
    factors_.analyzePattern(matrix_);
  }

  // Multiplications, and what it takes to build the matrix in about as many.
  double work() const {
    return factors_.work() + 60.0 * static_cast<double>(places_.size()) +
           4.0 * static_cast<double>(dense_.size()) * factors_.entries();
  }

  /// False: the matrix is not positive definite, by rounding.
  bool factorise(const Vector& weight) {
    double* entries = matrix_.valuePtr();
    std::fill(entries, entries + matrix_.nonZeros(), 0.0);
    std::size_t k = 0;
    for (const int row : sparse_)
      for (int left = pair_count(row); left > 0; --left, ++k)
        entries[places_[k].first] += weight[row] * places_[k].second;
    for (int col = 0; col < lp_.columns(); ++col) matrix_.coeffRef(col, col) *= 1 + 1e-13;
    factors_.factorize(matrix_);
    if (factors_.info() != Eigen::Success) return false;
    if (dense_.empty()) return true;
    const auto count = static_cast<Eigen::Index>(dense_.size());
    columns_.setZero(lp_.columns(), count);
    for (Eigen::Index d = 0; d < count; ++d)
      for (int e = lp_.begin[dense_[d]]; e < lp_.begin[dense_[d] + 1]; ++e)
        columns_(lp_.column[e], d) += lp_.value[e] * std::sqrt(weight[dense_[d]]);
    solved_ = factors_.solve(columns_);
    Eigen::MatrixXd inner = columns_.transpose() * solved_;
    inner.diagonal().array() += 1;
    inner_.compute(inner);
    return inner_.info() == Eigen::Success;
  }

  Vector solve(const Vector& right) const {
    Vector found = factors_.solve(right);
    if (!dense_.empty()) found -= solved_ * inner_.solve(columns_.transpose() * found);
    return found;
  }

 private:
  int pair_count(int row) const {
    const int count = lp_.begin[row + 1] - lp_.begin[row];
    return count * (count + 1) / 2;
  }
  // Entries of the lower triangle that a row adds to.
  template <class Visit>
  void pairs(int row, const Visit& visit) const {
    for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
      for (int l = lp_.begin[row]; l <= k; ++l)
        visit(std::max(lp_.column[k], lp_.column[l]), std::min(lp_.column[k], lp_.column[l]),
              lp_.value[k] * lp_.value[l]);
  }

  const InequalityLp& lp_;
  std::vector<int> sparse_, dense_;
  Sparse matrix_;  // lower triangle of S
  std::vector<std::pair<int, double>> places_;
  Factors factors_;
  Eigen::MatrixXd columns_, solved_;
  Eigen::LLT<Eigen::MatrixXd> inner_;
};

class Method {
 public:
  Method(const InequalityLp& lp, const std::vector<double>& start)
      : lp_(lp),
        equations_(lp),
        z_(Eigen::Map<const Vector>(start.data(), lp.columns())),
        cost_(Eigen::Map<const Vector>(lp.cost.data(), lp.columns())),
        slack_(times(z_) - Eigen::Map<const Vector>(lp.right.data(), lp.rows())) {}

  InteriorPoint run(const InteriorOptions& options) {
    InteriorPoint best = report();
    best.prices.clear();
    if (equations_.work() > options.most_work) return best;
    start_prices();
    double error = kInfinity, work = equations_.work();
    int worse = 0;  // steps since the best
    for (int step = 0; step < kSteps && worse < kPatience; ++step) {
      check_interrupt();
      if (!advance()) break;
      work += equations_.work();
      InteriorPoint found = report();
      const double residual = (cost_ - transposed(price_)).lpNorm<Eigen::Infinity>();
      const double now = std::max(std::abs(found.gap), residual);
      ++worse;
      if (now < error) {
        error = now;
        worse = 0;
        best = std::move(found);
        best.converged = error <= options.tolerance;
        if (best.converged || (options.stop && options.stop(best))) break;
      }
    }
    best.work = work;
    return best;
  }

 private:
  void start_prices() {
    // Mehrotra's start for the prices: the least that satisfy w G = c, moved to be positive.
    price_ = Vector::Ones(lp_.rows());
    if (equations_.factorise(price_)) price_ = times(equations_.solve(cost_));
    price_.array() += std::max(0.0, -1.5 * price_.minCoeff());
    price_.array() += std::max(1e-3 / lp_.rows(), 0.5 * price_.dot(slack_) / slack_.sum());
  }

  Vector times(const Vector& z) const {  // G z
    Vector result(lp_.rows());
    for (int row = 0; row < lp_.rows(); ++row) {
      double sum = 0;
      for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
        sum += lp_.value[k] * z[lp_.column[k]];
      result[row] = sum;
    }
    return result;
  }
  Vector transposed(const Vector& w) const {  // w G
    Vector result = Vector::Zero(lp_.columns());
    for (int row = 0; row < lp_.rows(); ++row)
      for (int k = lp_.begin[row]; k < lp_.begin[row + 1]; ++k)
        result[lp_.column[k]] += lp_.value[k] * w[row];
    return result;
  }

  InteriorPoint report() const {
    InteriorPoint found;
    found.point.assign(z_.data(), z_.data() + z_.size());
    found.prices.assign(price_.data(), price_.data() + price_.size());
    found.value = cost_.dot(z_);
    if (price_.size() == 0) return found;
    const double dual = price_.dot(Eigen::Map<const Vector>(lp_.right.data(), lp_.rows()));
    found.gap = (found.value - dual) / std::max(1.0, std::abs(found.value));
    return found;
  }

  // Largest step, at most 1, that keeps x + step dx >= 0.
  static double longest(const Vector& x, const Vector& dx) {
    double step = 1 / kToBoundary;
    for (Eigen::Index k = 0; k < x.size(); ++k)
      if (dx[k] < 0) step = std::min(step, -x[k] / dx[k]);
    return std::min(1.0, kToBoundary * step);
  }

  // False: rounding spoils the step.
  bool advance() {
    const double count = static_cast<double>(lp_.rows());
    const double mean = slack_.dot(price_) / count;
    const Vector weight = price_.cwiseQuotient(slack_);
    if (!equations_.factorise(weight)) return false;
    const Vector residual = cost_ - transposed(price_);
    Vector dz, ds, dw;
    const auto direction = [&](const Vector& target) {  // slack dw + price ds = target
      const Vector right = transposed(target.cwiseQuotient(slack_)) - residual;
      dz = equations_.solve(right);
      dz += equations_.solve(right - transposed(weight.cwiseProduct(times(dz))));  // refined
      ds = times(dz);
      dw = (target - price_.cwiseProduct(ds)).cwiseQuotient(slack_);
    };
    const Vector product = slack_.cwiseProduct(price_);
    direction(-product);
    const double primal = longest(slack_, ds), dual = longest(price_, dw);
    const double after = (slack_ + primal * ds).dot(price_ + dual * dw) / count;
    const double centring = std::pow(std::max(0.0, after / mean), 3);
    direction(Vector::Constant(lp_.rows(), centring * mean) - product - ds.cwiseProduct(dw));
    if (!dz.allFinite() || !dw.allFinite()) return false;
    const double step = longest(slack_, ds), price_step = longest(price_, dw);
    z_ += step * dz;
    price_ += price_step * dw;
    slack_ = times(z_) - Eigen::Map<const Vector>(lp_.right.data(), lp_.rows());
    if (slack_.minCoeff() > 0) return true;
    z_ -= step * dz;  // what rounding has made of it
    slack_ = times(z_) - Eigen::Map<const Vector>(lp_.right.data(), lp_.rows());
    return false;
  }

  const InequalityLp& lp_;
  NormalEquations equations_;
  Vector z_, cost_, slack_, price_;
};

}  // namespace

InteriorPoint solve_interior(const InequalityLp& lp, const std::vector<double>& start,
                             const InteriorOptions& options) {
  return Method(lp, start).run(options);
}

}  // namespace cosched::opt
