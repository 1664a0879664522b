#include "cosched/moldable/minsum/bound.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/minsum/basis.hpp"

namespace cosched::moldable::minsum {
namespace {

// Of the shortest interval of the default grid, up to the horizon.
constexpr int kMaxDoublings = 60;
// Beyond these numbers a grid is refused: a basis has a square of the intervals, and each pricing
// goes through all columns.
constexpr std::size_t kMaxIntervals = 2000, kMaxColumns = 50'000'000;
// Steps in a row that gain nothing, besides two for each row, before Bland's rule.
constexpr int kPatientSteps = 100;

void require_intervals(std::size_t count) {
  if (count > kMaxIntervals)
    throw InvalidInstance("grid: " + std::to_string(count) + " intervals: expected at most " +
                          std::to_string(kMaxIntervals));
}

std::vector<double> drop_leading_zero(const std::vector<double>& grid) {
  std::vector<double> ends = grid;
  if (!ends.empty() && ends.front() == 0) ends.erase(ends.begin());
  if (ends.empty()) throw InvalidInstance("grid: expected at least one time > 0");
  for (std::size_t j = 0; j < ends.size(); ++j) {
    const double previous_end = j == 0 ? 0 : ends[j - 1];
    if (!(ends[j] > previous_end) || ends[j] == kInfinity)
      throw InvalidInstance("grid: " + to_text(ends[j]) + " after " + to_text(previous_end) +
                            ": expected finite, increasing times");
  }
  return ends;
}

constexpr int kBlockColumns = 4096;  // priced at a time: about what the first-level cache holds

// A primal simplex method on IntervalBasis.  Reduced costs are
//   d(x_ij) = c_ij + S_ij price_j - (the same of the key of i),   d(y_j) = price_j - price_{j+1}.
class IntervalSimplex {
 public:
  explicit IntervalSimplex(const IntervalModel& model)
      : model_(model), jobs_(model.jobs()), rows_(model.intervals()), basis_(model) {}

  MinsumSolution solve() {
    // Far more than any instance took; the bound holds wherever it ends.
    const std::int64_t max_pivots = 20'000 + 100LL * (jobs_ + rows_);
    const int refactor_after = std::max(64, rows_);  // as dear as that many steps
    MinsumSolution solution;
    objective_ = basis_.objective();
    // "Nothing improves" is believed only right after a refactorisation.
    for (bool is_refactored = true;;) {
      while (basis_.updates_since_refactor() < refactor_after && solution.pivots < max_pivots &&
             take_step()) {
        is_refactored = false;
        ++solution.pivots;
        if (solution.pivots % 64 == 0) check_interrupt();
      }
      if (is_refactored || solution.pivots >= max_pivots) break;
      basis_.refactor();
      objective_ = basis_.objective();
      is_refactored = true;
    }
    solution.price = make_monotone_prices();
    solution.value = lagrangian(model_, solution.price);
    solution.primal = basis_.objective();
    return solution;
  }

 private:
  using Column = IntervalBasis::Column;

  double price(int j) const { return j < rows_ ? price_[j] : 0; }

  double key_cost(int i) const {
    const int k = basis_.key_interval(i);
    return model_.cost(i)[k] + model_.area(i)[k] * price(k);
  }

  void price_block(int from, int to) {
    for (int i = from; i < to; ++i) {
      const double *cost = model_.cost(i), *area = model_.area(i);
      const double key_cost_of_job = key_cost(i);
      offer_entering(cost[rows_] - key_cost_of_job, {i, rows_});
      for (int j = model_.first_interval(i); j < rows_; ++j)
        offer_entering(cost[j] + area[j] * price_[j] - key_cost_of_job, {i, j});
    }
  }

  // The most negative reduced cost of the y_j and one block of jobs; the next block where there is
  // none.
  bool find_entering_column() {
    const double tolerance = entering_cost_;
    for (int j = 0; j < rows_; ++j) offer_entering(price(j) - price(j + 1), {-1, j});
    const int block = std::max(1, kBlockColumns / (rows_ + 1));
    const int blocks = (jobs_ + block - 1) / block;
    for (int blocks_tried = 0; blocks_tried < blocks; ++blocks_tried) {
      const int from = next_block_ * block;
      price_block(from, std::min(from + block, jobs_));
      next_block_ = (next_block_ + 1) % blocks;
      if (entering_cost_ < tolerance) return true;
    }
    return entering_cost_ < tolerance;
  }

  // Bland's rule: the first column with a negative reduced cost.
  bool find_first_entering_column() {
    for (int j = 0; j < rows_; ++j)
      if (offer_entering(price(j) - price(j + 1), {-1, j})) return true;
    for (int i = 0; i < jobs_; ++i) {
      const double key_cost_of_job = key_cost(i);
      for (int j = model_.first_interval(i); j <= rows_; ++j)
        if (offer_entering(model_.cost(i)[j] + model_.area(i)[j] * price(j) - key_cost_of_job,
                           {i, j}))
          return true;
    }
    return false;
  }

  bool offer_entering(double reduced, Column column) {
    if (!(reduced < entering_cost_)) return false;
    entering_cost_ = reduced;
    entering_column_ = column;
    return true;
  }

  // One step; false where none improves.
  bool take_step() {
    price_ = basis_.prices();
    // What all jobs together could still gain is then far below kExactTolerance.
    constexpr double kLeastGain = 1e-11;
    constexpr double kLeastObjective = 1e-290;  // so that its small shares are still positive
    entering_cost_ = -kLeastGain * std::max(objective_, kLeastObjective) / jobs_;
    // Many steps of length zero in a row: Bland's rule, which cannot cycle.
    ++degenerate_steps_;
    const bool bland = degenerate_steps_ > kPatientSteps + 2 * rows_;
    if (!(bland ? find_first_entering_column() : find_entering_column())) return false;
    const double length = basis_.enter_column(entering_column_, bland);
    if (length == kInfinity) return false;
    const double previous_end = objective_;
    objective_ += length * entering_cost_;
    if (objective_ < previous_end) degenerate_steps_ = 0;
    return true;
  }

  // Rounding may leave prices that increase by a hair: the least non-increasing ones above.
  std::vector<double> make_monotone_prices() const {
    std::vector<double> price = price_;
    double least = 0;
    for (int j = rows_ - 1; j >= 0; --j) {
      least = std::max(least, price[j]);
      price[j] = least;
    }
    return price;
  }

  const IntervalModel& model_;
  int jobs_, rows_;
  IntervalBasis basis_;
  std::vector<double> price_;
  Column entering_column_{-1, -1};
  double entering_cost_ = 0;  // of entering_
  int next_block_ = 0, degenerate_steps_ = 0;
  double objective_ = 0;
};

constexpr double kMaxEntries = 2e7;  // that GLPK is given

}  // namespace

IntervalModel::IntervalModel(const Instance& instance, const std::vector<double>& grid,
                             bool tight) {
  const std::vector<double> ends = drop_leading_zero(grid);
  require_intervals(ends.size());
  if (ends.size() * instance.jobs() > kMaxColumns)
    throw InvalidInstance("grid: " + std::to_string(ends.size()) + " intervals for " +
                          std::to_string(instance.jobs()) + " jobs: expected at most " +
                          std::to_string(kMaxColumns) + " together");
  const int n = instance.jobs(), width = static_cast<int>(ends.size()) + 1;
  for (std::size_t j = 0; j < ends.size(); ++j)
    capacity_.push_back(instance.machines() * (ends[j] - (j == 0 ? 0 : ends[j - 1])));
  cost_.resize(static_cast<std::size_t>(n) * width);
  area_.resize(cost_.size());
  first_interval_.resize(n);
  for (int i = 0; i < n; ++i) {
    check_interrupt();
    const double earliest = instance.release(i) + instance.least_time(i);
    double* cost = &cost_[static_cast<std::size_t>(i) * width];
    double* area = &area_[static_cast<std::size_t>(i) * width];
    for (int j = 0; j < width; ++j) {
      const double begin = j == 0 ? 0 : ends[j - 1];
      cost[j] = instance.weight(i) * (tight ? std::max(begin, earliest) : begin);
      area[j] = j + 1 == width ? 0 : instance.least_area(i, ends[j] - instance.release(i));
    }
    first_interval_[i] = static_cast<int>(
        std::find_if(area, area + width, [](double a) { return a < kInfinity; }) - area);
  }
}

std::vector<double> make_default_grid(const Instance& instance) {
  double least = kInfinity, latest = 0;
  for (int i = 0; i < instance.jobs(); ++i) {
    least = std::min(least, instance.least_time(i));
    latest = std::max(latest, instance.release(i));
  }
  std::vector<int> all_jobs(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i) all_jobs[i] = i;
  const double horizon =
      latest +
      dual::default_horizon(instance.has_releases() ? instance.select(all_jobs) : instance);
  const double doublings = std::floor(std::log2(horizon) - std::log2(least));
  std::vector<double> grid;
  for (int j = -static_cast<int>(std::clamp<double>(doublings, 0, kMaxDoublings)); j <= 1; ++j) {
    const double end = std::ldexp(horizon, j);
    if (end > 0) grid.push_back(end);
  }
  return grid;
}

std::vector<double> refine_grid(const std::vector<double>& grid, int parts) {
  if (parts < 1)
    throw InvalidInstance("refine = " + std::to_string(parts) + ": expected at least 1");
  require_intervals(grid.size() * parts);
  std::vector<double> refined_grid;
  double begin = 0;
  for (const double end : grid) {
    for (int k = 1; k < parts; ++k) {
      const double cut = begin + (end - begin) * k / parts;
      if (cut > begin && cut < end && (refined_grid.empty() || cut > refined_grid.back()))
        refined_grid.push_back(cut);
    }
    refined_grid.push_back(end);
    begin = end;
  }
  return refined_grid;
}

IntervalModel make_model(const Instance& instance, const MinsumOptions& options) {
  const std::vector<double> grid =
      options.grid ? drop_leading_zero(*options.grid) : make_default_grid(instance);
  return IntervalModel(instance, refine_grid(grid, options.refine), options.tight);
}

double lagrangian(const IntervalModel& model, const std::vector<double>& price) {
  double value = 0;
  for (int i = 0; i < model.jobs(); ++i) {
    const double *cost = model.cost(i), *area = model.area(i);
    double least = cost[model.intervals()];
    for (int j = model.first_interval(i); j < model.intervals(); ++j)
      least = std::min(least, cost[j] + area[j] * price[j]);
    value += least;
  }
  for (int j = 0; j < model.intervals(); ++j) value -= model.capacity(j) * price[j];
  return value;
}

MinsumSolution solve(const IntervalModel& model) {
  double max_pivots = 0;
  for (int i = 0; i < model.jobs(); ++i)
    max_pivots = std::max(max_pivots, model.cost(i)[model.intervals()]);
  if (max_pivots == 0) {  // no weights: every schedule is optimal
    MinsumSolution trivial;
    trivial.price.assign(model.intervals(), 0);
    return trivial;
  }
  return IntervalSimplex(model).solve();
}

double bound(const Instance& instance, const MinsumOptions& options) {
  return solve(make_model(instance, options)).value;
}

ScaledLp to_lp(const IntervalModel& model) {
  ScaledLp result;
  lp::Model& lp = result.model;
  double max_pivots = 0, entries = 0;
  for (int i = 0; i < model.jobs(); ++i) {
    const double rows = model.columns() - model.first_interval(i);
    max_pivots = std::max(max_pivots, model.cost(i)[model.intervals()]);
    entries += rows * (rows + 1) / 2;
  }
  if (entries > kMaxEntries)
    throw InvalidInstance("minsum programme: " + to_text(entries) +
                          " coefficients: expected at most " + to_text(kMaxEntries) +
                          " (the structured method has no such limit)");
  if (max_pivots > 0) result.unit = max_pivots;
  std::vector<double> end;  // m grid[j+1]
  for (int j = 0; j < model.intervals(); ++j) {
    end.push_back(model.capacity(j) + (j == 0 ? 0 : end.back()));
    lp.add_row(-kInfinity, 1);
  }
  for (int i = 0; i < model.jobs(); ++i) {
    const int part = lp.add_row(1, kInfinity);
    for (int j = model.first_interval(i); j < model.columns(); ++j) {
      const int column = lp.add_column(model.cost(i)[j] / result.unit);
      lp.add_entry(part, column, 1);
      for (int row = j; row < model.intervals(); ++row)
        lp.add_entry(row, column, model.area(i)[j] / end[row]);
    }
  }
  return result;
}

double bound_by_glpk(const Instance& instance, const MinsumOptions& options) {
  const IntervalModel model = make_model(instance, options);
  const ScaledLp scaled = to_lp(model);
  const lp::Solution solution = lp::solve_glpk(scaled.model);
  lp::require_optimal(solution, "minsum programme");
  // A unit of surface in interval j takes part in the rows j, j+1, ...
  std::vector<double> price(model.intervals());
  double end = 0, sum = 0;
  for (int j = 0; j < model.intervals(); ++j) end += model.capacity(j);
  for (int j = model.intervals() - 1; j >= 0; --j) {
    sum += std::max(-solution.dual[j], 0.0) * scaled.unit / end;
    price[j] = sum;
    end -= model.capacity(j);
  }
  return lagrangian(model, price);
}

}  // namespace cosched::moldable::minsum
