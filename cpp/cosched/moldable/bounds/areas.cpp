#include "cosched/moldable/bounds/areas.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::moldable::bounds {
namespace {

// Rounds of the game of resources, which mostly ends after a few dozen.
constexpr int kMostGameRounds = 200;
// Release dates from which areas are looked at: beyond, every second, third, ... one.
constexpr int kMostReleases = 200;

}  // namespace

ResourceRows::ResourceRows(const Instance& instance, double unit, double least)
    : instance_(instance), sharing_(*instance.sharing()) {
  for (int i = 0; i < instance.jobs(); ++i)
    choices_.push_back(cosched::choices(sharing_, i, instance.useful_machines(), [&](int q) {
      return std::max(instance.exact_time(i, q) / unit, least);
    }));
}

double ResourceRows::share(int row, int i, int q) const {
  if (row == 0) return static_cast<double>(q) / instance_.machines();
  if (row > sharing_.resources()) return sharing_.stall(i) == 1 ? sharing_.load(i, q) : 0;
  const double capacity = sharing_.capacity(row - 1);
  return capacity > 0 && capacity < kInfinity ? sharing_.need(row - 1, i, q) / capacity : 0;
}

std::pair<std::vector<double>, double> ResourceRows::cheapest_response(
    const std::vector<double>& prices, const std::vector<int>& jobs) const {
  std::vector<double> sums(row_count(), 0);
  double total = 0;
  for (const int i : jobs) {
    double least = kInfinity;
    const Choice* best = nullptr;
    for (const Choice& c : choices_[i]) {
      double cost = 0;
      for (int row = 0; row < row_count(); ++row) cost += prices[row] * share(row, i, c.procs);
      if (cost * c.time < least) {
        least = cost * c.time;
        best = &c;
      }
    }
    total += least;
    for (int row = 0; row < row_count(); ++row)
      sums[row] += share(row, i, best->procs) * best->time;
  }
  return {sums, total};
}

PricedArea maximize_area(const ResourceRows& rows, const std::vector<int>& jobs) {
  std::vector<double> prices(rows.row_count(), 0);
  prices[0] = 1;
  opt::MatrixGame game(rows.row_count());
  PricedArea best{0, prices};
  for (int round = 0; round < kMostGameRounds; ++round) {
    const auto [sums, total] = rows.cheapest_response(prices, jobs);
    if (total > best.value) best = {total, prices};
    game.add_column(sums);
    if (rows.row_count() == 1) break;
    game.solve();
    if (best.value >= game.value() * (1 - kExactTolerance)) break;
    prices = game.prices();
    double sum = 0;
    for (double& price : prices) {
      price = std::max(price, 0.0);
      sum += price;
    }
    for (double& price : prices) price /= sum;
    check_interrupt();
  }
  return best;
}

double resource_area_bound(const Instance& instance) {
  const ResourceRows rows(instance);
  std::vector<double> releases(instance.releases());
  std::sort(releases.begin(), releases.end());
  releases.erase(std::unique(releases.begin(), releases.end()), releases.end());
  double best = 0;
  const std::size_t step = releases.size() / kMostReleases + 1;
  for (std::size_t k = 0; k < releases.size(); k += step) {
    std::vector<int> jobs;
    for (int i = 0; i < instance.jobs(); ++i)
      if (instance.release(i) >= releases[k]) jobs.push_back(i);
    best = std::max(best, releases[k] + round_down(maximize_area(rows, jobs).value,
                                                   instance.jobs() * (1 + rows.row_count())));
  }
  return best;
}

double round_down(double value, int terms) { return value * (1 - 2 * sum_rounding(terms + 8.0)); }

}  // namespace cosched::moldable::bounds
