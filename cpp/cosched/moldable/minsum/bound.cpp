#include "cosched/moldable/minsum/bound.hpp"

#include <algorithm>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/moldable/minsum/basis.hpp"

namespace cosched::moldable::minsum {
namespace {

constexpr int kBlockColumns = 4096;  // priced at a time: about what the first-level cache holds

// A primal simplex method on Basis.  Reduced costs are
//   d(x_ij) = c_ij + S_ij price_j - (the same of the key of i),   d(y_j) = price_j - price_{j+1}.
class Simplex {
 public:
  explicit Simplex(const Model& model)
      : model_(model), jobs_(model.jobs()), rows_(model.intervals()), basis_(model) {}

  Solution run() {
    // Far more than any instance took; the bound holds wherever it ends.
    const std::int64_t most = 20'000 + 100LL * (jobs_ + rows_);
    const int refactor_after = std::max(64, rows_);  // as dear as that many steps
    Solution found;
    objective_ = basis_.objective();
    // "Nothing improves" is believed only right after a refactorisation.
    for (bool fresh = true;;) {
      while (basis_.age() < refactor_after && found.pivots < most && step()) {
        fresh = false;
        if (++found.pivots % 64 == 0) check_interrupt();
      }
      if (fresh || found.pivots >= most) break;
      basis_.refactor();
      objective_ = basis_.objective();
      fresh = true;
    }
    found.price = monotone_prices();
    found.value = lagrangian(model_, found.price);
    found.primal = basis_.objective();
    return found;
  }

 private:
  using Column = Basis::Column;

  double price(int j) const { return j < rows_ ? price_[j] : 0; }

  double cost_of_key(int i) const {
    const int k = basis_.key(i);
    return model_.cost(i)[k] + model_.area(i)[k] * price(k);
  }

  void price_block(int from, int to) {
    for (int i = from; i < to; ++i) {
      const double *cost = model_.cost(i), *area = model_.area(i);
      const double of_key = cost_of_key(i);
      improves(cost[rows_] - of_key, {i, rows_});
      for (int j = model_.first(i); j < rows_; ++j)
        improves(cost[j] + area[j] * price_[j] - of_key, {i, j});
    }
  }

  // The most negative reduced cost of the y_j and one block of jobs; the next block where there is
  // none.
  bool find_entering() {
    const double tolerance = reduced_;
    for (int j = 0; j < rows_; ++j) improves(price(j) - price(j + 1), {-1, j});
    const int block = std::max(1, kBlockColumns / (rows_ + 1));
    const int blocks = (jobs_ + block - 1) / block;
    for (int tried = 0; tried < blocks; ++tried) {
      const int from = next_block_ * block;
      price_block(from, std::min(from + block, jobs_));
      next_block_ = (next_block_ + 1) % blocks;
      if (reduced_ < tolerance) return true;
    }
    return reduced_ < tolerance;
  }

  // Bland's rule: the first column with a negative reduced cost.
  bool find_first_entering() {
    for (int j = 0; j < rows_; ++j)
      if (improves(price(j) - price(j + 1), {-1, j})) return true;
    for (int i = 0; i < jobs_; ++i) {
      const double of_key = cost_of_key(i);
      for (int j = model_.first(i); j <= rows_; ++j)
        if (improves(model_.cost(i)[j] + model_.area(i)[j] * price(j) - of_key, {i, j}))
          return true;
    }
    return false;
  }

  bool improves(double reduced, Column column) {
    if (!(reduced < reduced_)) return false;
    reduced_ = reduced;
    entering_ = column;
    return true;
  }

  // One step; false where none improves.
  bool step() {
    price_ = basis_.prices();
    // What all jobs together could still gain is then far below kExactTolerance.
    reduced_ = -1e-11 * std::max(objective_, 1e-290) / jobs_;
    // Many steps of length zero in a row: Bland's rule, which cannot cycle.
    const bool bland = ++stalled_ > 100 + 2 * rows_;
    if (!(bland ? find_first_entering() : find_entering())) return false;
    const double length = basis_.enter(entering_, bland);
    if (length == kInfinity) return false;
    const double before = objective_;
    objective_ += length * reduced_;
    if (objective_ < before) stalled_ = 0;
    return true;
  }

  // Rounding may leave prices that increase by a hair: the least non-increasing ones above.
  std::vector<double> monotone_prices() const {
    std::vector<double> price = price_;
    double least = 0;
    for (int j = rows_ - 1; j >= 0; --j) price[j] = least = std::max(least, price[j]);
    return price;
  }

  const Model& model_;
  int jobs_, rows_;
  Basis basis_;
  std::vector<double> price_;
  Column entering_{-1, -1};
  double reduced_ = 0;  // of entering_
  int next_block_ = 0, stalled_ = 0;
  double objective_ = 0;
};

constexpr double kMostEntries = 2e7;  // that GLPK is given

}  // namespace

Solution solve(const Model& model) {
  double most = 0;
  for (int i = 0; i < model.jobs(); ++i) most = std::max(most, model.cost(i)[model.intervals()]);
  if (most == 0) {  // no weights: every schedule is optimal
    Solution none;
    none.price.assign(model.intervals(), 0);
    return none;
  }
  return Simplex(model).run();
}

double bound(const Instance& instance, const Options& options) {
  return solve(make_model(instance, options)).value;
}

Lp to_lp(const Model& model) {
  Lp result;
  lp::Model& lp = result.model;
  double most = 0, entries = 0;
  for (int i = 0; i < model.jobs(); ++i) {
    const double rows = model.columns() - model.first(i);
    most = std::max(most, model.cost(i)[model.intervals()]);
    entries += rows * (rows + 1) / 2;
  }
  if (entries > kMostEntries)
    throw InvalidInstance("minsum programme: " + to_text(entries) +
                          " coefficients: expected at most " + to_text(kMostEntries) +
                          " (the structured method has no such limit)");
  if (most > 0) result.unit = most;
  std::vector<double> end;  // m grid[j+1]
  for (int j = 0; j < model.intervals(); ++j) {
    end.push_back(model.capacity(j) + (j == 0 ? 0 : end.back()));
    lp.add_row(-kInfinity, 1);
  }
  for (int i = 0; i < model.jobs(); ++i) {
    const int part = lp.add_row(1, kInfinity);
    for (int j = model.first(i); j < model.columns(); ++j) {
      const int column = lp.add_column(model.cost(i)[j] / result.unit);
      lp.add_entry(part, column, 1);
      for (int row = j; row < model.intervals(); ++row)
        lp.add_entry(row, column, model.area(i)[j] / end[row]);
    }
  }
  return result;
}

double bound_by_glpk(const Instance& instance, const Options& options) {
  const Model model = make_model(instance, options);
  const Lp scaled = to_lp(model);
  const lp::Solution solution = lp::solve_glpk(scaled.model);
  lp::require_optimal(solution, "minsum programme");
  // A unit of surface in interval j takes part in the rows j, j+1, ...
  std::vector<double> price(model.intervals());
  double end = 0, sum = 0;
  for (int j = 0; j < model.intervals(); ++j) end += model.capacity(j);
  for (int j = model.intervals() - 1; j >= 0; --j) {
    price[j] = sum += std::max(-solution.dual[j], 0.0) * scaled.unit / end;
    end -= model.capacity(j);
  }
  return lagrangian(model, price);
}

}  // namespace cosched::moldable::minsum
