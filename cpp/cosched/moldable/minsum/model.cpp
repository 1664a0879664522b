#include "cosched/moldable/minsum/model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"

namespace cosched::moldable::minsum {
namespace {

constexpr int kMostDoublings = 60;
constexpr std::size_t kMostIntervals = 2000, kMostColumns = 50'000'000;

void require_intervals(std::size_t count) {
  if (count > kMostIntervals)
    throw InvalidInstance("grid: " + std::to_string(count) + " intervals: expected at most " +
                          std::to_string(kMostIntervals));
}

std::vector<double> without_zero(const std::vector<double>& grid) {
  std::vector<double> ends = grid;
  if (!ends.empty() && ends.front() == 0) ends.erase(ends.begin());
  if (ends.empty()) throw InvalidInstance("grid: expected at least one time > 0");
  for (std::size_t j = 0; j < ends.size(); ++j) {
    const double before = j == 0 ? 0 : ends[j - 1];
    if (!(ends[j] > before) || ends[j] == kInfinity)
      throw InvalidInstance("grid: " + to_text(ends[j]) + " after " + to_text(before) +
                            ": expected finite, increasing times");
  }
  return ends;
}

}  // namespace

Model::Model(const Instance& instance, const std::vector<double>& grid, bool tight) {
  const std::vector<double> ends = without_zero(grid);
  require_intervals(ends.size());
  if (ends.size() * instance.jobs() > kMostColumns)
    throw InvalidInstance("grid: " + std::to_string(ends.size()) + " intervals for " +
                          std::to_string(instance.jobs()) + " jobs: expected at most " +
                          std::to_string(kMostColumns) + " together");
  const int n = instance.jobs(), width = static_cast<int>(ends.size()) + 1;
  for (std::size_t j = 0; j < ends.size(); ++j)
    capacity_.push_back(instance.machines() * (ends[j] - (j == 0 ? 0 : ends[j - 1])));
  cost_.resize(static_cast<std::size_t>(n) * width);
  area_.resize(cost_.size());
  first_.resize(n);
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
    first_[i] = static_cast<int>(
        std::find_if(area, area + width, [](double a) { return a < kInfinity; }) - area);
  }
}

std::vector<double> default_grid(const Instance& instance) {
  double least = kInfinity, latest = 0;
  for (int i = 0; i < instance.jobs(); ++i) {
    least = std::min(least, instance.least_time(i));
    latest = std::max(latest, instance.release(i));
  }
  std::vector<int> all(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i) all[i] = i;
  const double horizon =
      latest + dual::default_horizon(instance.has_releases() ? instance.select(all) : instance);
  const double doublings = std::floor(std::log2(horizon) - std::log2(least));
  std::vector<double> grid;
  for (int j = -static_cast<int>(std::clamp<double>(doublings, 0, kMostDoublings)); j <= 1; ++j) {
    const double end = std::ldexp(horizon, j);
    if (end > 0) grid.push_back(end);
  }
  return grid;
}

std::vector<double> refined(const std::vector<double>& grid, int parts) {
  if (parts < 1)
    throw InvalidInstance("refine = " + std::to_string(parts) + ": expected at least 1");
  require_intervals(grid.size() * parts);
  std::vector<double> fine;
  double begin = 0;
  for (const double end : grid) {
    for (int k = 1; k < parts; ++k) {
      const double cut = begin + (end - begin) * k / parts;
      if (cut > begin && cut < end && (fine.empty() || cut > fine.back())) fine.push_back(cut);
    }
    fine.push_back(end);
    begin = end;
  }
  return fine;
}

Model make_model(const Instance& instance, const Options& options) {
  const std::vector<double> grid =
      options.grid ? without_zero(*options.grid) : default_grid(instance);
  return Model(instance, refined(grid, options.refine), options.tight);
}

double lagrangian(const Model& model, const std::vector<double>& price) {
  double value = 0;
  for (int i = 0; i < model.jobs(); ++i) {
    const double *cost = model.cost(i), *area = model.area(i);
    double least = cost[model.intervals()];
    for (int j = model.first(i); j < model.intervals(); ++j)
      least = std::min(least, cost[j] + area[j] * price[j]);
    value += least;
  }
  for (int j = 0; j < model.intervals(); ++j) value -= model.capacity(j) * price[j];
  return value;
}

}  // namespace cosched::moldable::minsum
