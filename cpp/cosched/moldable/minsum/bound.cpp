#include "cosched/moldable/minsum/bound.hpp"

#include <algorithm>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/moldable/minsum/simplex.hpp"

namespace cosched::moldable::minsum {
namespace {

constexpr double kMostEntries = 2e7;  // that GLPK is given

}  // namespace

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
