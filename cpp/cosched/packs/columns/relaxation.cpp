#include "cosched/packs/columns/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::columns {
namespace {

constexpr double kSmoothing = 0.8;
constexpr double kImproving = 1e-7;  // relative reduced cost at which a column is worth adding
constexpr double kMasterTolerance = 1e-9;
constexpr double kArtificialCost = 100;  // times the sum of the least times
constexpr int kMostFailures = 20;  // calls of the master without an optimum or without a pivot
constexpr std::int64_t kMostPivots = 20'000;  // a call of the master

std::vector<double> least_times(const Times& times) {
  std::vector<double> least(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) least[i] = times.least(i);
  return least;
}

double artificial_cost(const Instance& instance) {
  const std::vector<double> least = least_times(instance.times());
  return kArtificialCost * std::accumulate(least.begin(), least.end(), 0.0);
}

std::vector<double> right_sides(const Groups& groups, const Restrictions& restrictions) {
  std::vector<double> right(groups.rows, 0.0);
  for (const Share& share : groups.of) {
    right[share.row] += share.weight;
    if (share.weight < 1) right[share.row + 1] += 1 - share.weight;
  }
  for (const CountRow& row : restrictions.counts)
    right.push_back(row.at_least ? row.packs : -row.packs);
  return right;
}

}  // namespace

std::vector<CountRow> least_counts(const Instance& instance, int most) {
  std::vector<double> least = least_times(instance.times());
  std::sort(least.begin(), least.end(), std::greater<>());
  const int k = instance.max_tasks(), packs = (instance.tasks() + k - 1) / k;
  const int rows = std::min(packs, most);
  std::vector<CountRow> counts;
  for (int r = 1; r <= rows; ++r) {
    const int m = static_cast<int>(static_cast<std::int64_t>(packs) * r / rows);
    const double length = least[static_cast<std::size_t>(m - 1) * k];
    if (!counts.empty() && counts.back().length == length) counts.pop_back();
    counts.push_back({length, m, true});
  }
  return counts;
}

std::vector<Column> first_columns(const Instance& instance) {
  const Times& times = instance.times();
  std::vector<Column> columns;
  const std::vector<double> least = least_times(times);
  for (int i = 0; i < times.tasks(); ++i) columns.push_back({least[i], {i}});
  for (const double epsilon : heuristic::nine_epsilons()) {
    const Coschedule coschedule = heuristic::pack_by_pack(instance, {epsilon});
    const Packs packs = members(coschedule.pack_of);
    const std::vector<double> lengths = pack_costs(instance, coschedule.pack_of, coschedule.procs);
    for (std::size_t b = 0; b < packs.size(); ++b) columns.push_back({lengths[b], packs[b]});
  }
  return columns;
}

Prices area_prices(const Instance& instance) {
  Prices prices;
  for (int i = 0; i < instance.tasks(); ++i)
    prices.task.push_back(least_work(instance.times(), i) / instance.procs());
  return prices;
}

Relaxation::Relaxation(const Instance& instance, Groups groups, Restrictions restrictions)
    : instance_(instance),
      groups_(std::move(groups)),
      restrictions_(std::move(restrictions)),
      master_(right_sides(groups_, restrictions_), artificial_cost(instance)),
      pricing_(instance.times(), instance.max_tasks()) {}

Relaxation::Relaxation(const Instance& instance, Groups groups, Restrictions restrictions,
                       const std::vector<Column>& pool)
    : Relaxation(instance, std::move(groups), std::move(restrictions)) {
  // Exchanges between rows as if they were their typical tasks: no more than hints.
  Table rows(groups_.rows, instance.procs());
  for (int g = 0; g < groups_.rows; ++g)
    std::copy_n(instance.times().row(groups_.typical[g]), instance.procs(), &rows(g, 0));
  const Times typical(std::move(rows));
  for (const Exchange& e : direct_exchanges(typical, dominance(typical), {}))
    master_.add_column(0, {e.for_task, e.task}, {1, -1});
  add_pool(pool);
}

Relaxation::Relaxation(const Instance& instance, const Dominance& dominates,
                       Restrictions restrictions, const std::vector<Column>& pool)
    : Relaxation(instance, singletons(instance.tasks()), std::move(restrictions)) {
  add_exchanges(dominates);
  add_pool(pool);
}

void Relaxation::add_pool(const std::vector<Column>& pool) {
  for (const CountRow& row : restrictions_.counts)
    if (row.at_least) add({row.length, {}});
  for (const Column& column : pool)
    if (std::all_of(column.tasks.begin(), column.tasks.end(),
                    [&](int i) { return restrictions_.allows(i, column.length); }))
      add(column);
}

// Columns that turn cover of task i into cover of a task j that dominates it.
void Relaxation::add_exchanges(const Dominance& dominates) {
  exchanges_ = direct_exchanges(instance_.times(), dominates, restrictions_);
  for (const Exchange& exchange : exchanges_)
    exchange_number_.push_back(master_.add_column(0, {exchange.for_task, exchange.task}, {1, -1}));
}

void Relaxation::start_from(const Prices& prices, double bound) {
  best_prices_ = prices;
  best_prices_.count.resize(restrictions_.counts.size(), 0.0);
  bound_ = bound;
}

void Relaxation::add(const Column& column) {
  std::map<int, double> covered;
  for (const int i : column.tasks) {
    const Share share = groups_.of[i];
    covered[share.row] += share.weight;
    if (share.weight < 1) covered[share.row + 1] += 1 - share.weight;
  }
  std::vector<int> rows;
  std::vector<double> values;
  for (const auto& [group, value] : covered) {
    rows.push_back(group);
    values.push_back(value);
  }
  for (std::size_t r = 0; r < restrictions_.counts.size(); ++r) {
    const CountRow& row = restrictions_.counts[r];
    if (column.length < row.length) continue;
    rows.push_back(groups_.rows + static_cast<int>(r));
    values.push_back(row.at_least ? 1 : -1);
  }
  number_.push_back(master_.add_column(column.length, rows, values));
  columns_.push_back(column);
}

Prices Relaxation::master_prices() const {
  const std::vector<double>& dual = master_.dual();
  Prices prices{{}, {dual.begin() + groups_.rows, dual.end()}};
  for (const auto& [row, weight] : groups_.of) {
    double price = weight * std::max(dual[row], 0.0);
    if (weight < 1) price += (1 - weight) * std::max(dual[row + 1], 0.0);
    prices.task.push_back(price);
  }
  for (std::size_t r = 0; r < prices.count.size(); ++r)
    prices.count[r] = std::max(prices.count[r], 0.0) * (restrictions_.counts[r].at_least ? 1 : -1);
  return prices;
}

Prices Relaxation::between(const Prices& master, double weight_of_best) const {
  if (weight_of_best == 0) return master;
  Prices prices = master;
  const auto mix = [&](double& value, double best) {
    value = weight_of_best * best + (1 - weight_of_best) * value;
  };
  for (std::size_t i = 0; i < prices.task.size(); ++i) mix(prices.task[i], best_prices_.task[i]);
  for (std::size_t r = 0; r < prices.count.size(); ++r) mix(prices.count[r], best_prices_.count[r]);
  return prices;
}

// Objective of the dual, rounded down.
double Relaxation::value_of(const Prices& prices) const {
  double sum = 0, magnitude = 0;
  for (const double u : prices.task) sum += u;
  magnitude = sum;
  for (std::size_t r = 0; r < prices.count.size(); ++r) {
    const double part = prices.count[r] * restrictions_.counts[r].packs;
    sum += part;
    magnitude += std::abs(part);
  }
  const double terms = static_cast<double>(prices.task.size() + prices.count.size()) + 8;
  return sum - 2 * terms * std::numeric_limits<double>::epsilon() * magnitude;
}

double Relaxation::worth(const Column& column, const Prices& prices) const {
  double sum = 0;
  for (const int i : column.tasks) sum += prices.task[i];
  for (std::size_t r = 0; r < prices.count.size(); ++r)
    if (column.length >= restrictions_.counts[r].length) sum += prices.count[r];
  return sum;
}

void Relaxation::solve(const Options& options) {
  int failures = 0;
  for (;;) {
    check_interrupt();
    const std::int64_t pivots = master_.pivots();
    const bool solved = master_.solve(kMasterTolerance, kMostPivots);
    if ((!solved || master_.pivots() == pivots) && ++failures > kMostFailures) return;
    const double gap = master_.objective() - bound_;
    if (bound_ >= options.cutoff || gap <= options.tolerance * master_.objective()) return;
    if (options.most_work >= 0 && work() > options.most_work) return;
    resolution_ = std::min(resolution_, gap / master_.objective() / 4);
    if (!separate(master_prices(), options.tolerance)) {
      // No pack improves the master at this resolution.
      if (resolution_ < options.tolerance / 64) return;
      resolution_ /= 4;
    }
    purge();
  }
}

// One or more pricings, from smoothed prices towards the master's own, until one finds columns that
// improve the master.  Returns false when none does.
bool Relaxation::separate(const Prices& master, double tolerance) {
  double weight = best_prices_.task.empty() ? 0 : kSmoothing;
  for (;;) {
    const Prices prices = between(master, weight);
    std::vector<Column> found;
    Pricing::Options options;
    options.resolution = resolution_;
    options.collect = weight > 0 ? 0.98 : 1;
    improve_bound(prices, pricing_.sweep(prices, restrictions_, options, found));
    if (add_improving(master, found) > 0) return true;
    if (master_.objective() - bound_ <= tolerance * master_.objective()) return true;
    if (weight == 0) return false;
    weight = weight > 0.3 ? weight / 2 : 0;
  }
}

void Relaxation::improve_bound(const Prices& prices, double ratio) {
  const double bound = value_of(prices) / ratio * (1 - 4 * std::numeric_limits<double>::epsilon());
  if (!(bound > bound_)) return;  // also when prices of wildly different sizes overflowed
  bound_ = bound;
  best_prices_ = prices;
}

int Relaxation::add_improving(const Prices& master, std::vector<Column>& found) {
  std::vector<std::pair<double, std::size_t>> improving;
  for (std::size_t c = 0; c < found.size(); ++c) {
    const double ratio = worth(found[c], master) / found[c].length;
    if (ratio > 1 + kImproving) improving.emplace_back(-ratio, c);
  }
  std::sort(improving.begin(), improving.end());
  const auto most = static_cast<std::size_t>(std::max(50, groups_.rows));
  if (improving.size() > most) improving.resize(most);
  for (const auto& entry : improving) add(found[entry.second]);
  return static_cast<int>(improving.size());
}

void Relaxation::purge() {
  const int most = 8 * master_.rows() + static_cast<int>(exchanges_.size()) + 2000;
  if (master_.columns() <= most) return;
  const std::vector<int> moved = master_.purge(0.02);
  std::size_t kept = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (moved[number_[c]] < 0) continue;
    number_[kept] = moved[number_[c]];
    if (kept != c) columns_[kept] = std::move(columns_[c]);
    ++kept;
  }
  columns_.resize(kept);
  number_.resize(kept);
  kept = 0;
  for (std::size_t e = 0; e < exchanges_.size(); ++e) {
    if (moved[exchange_number_[e]] < 0) continue;
    exchanges_[kept] = exchanges_[e];
    exchange_number_[kept++] = moved[exchange_number_[e]];
  }
  exchanges_.resize(kept);
  exchange_number_.resize(kept);
}

std::vector<FractionalPack> Relaxation::fractional_partition() const {
  const std::vector<double> value = master_.solution();
  std::vector<FractionalPack> packs;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (value[number_[c]] > kNegligible) packs.push_back({columns_[c], value[number_[c]]});
  std::vector<Exchange> exchanges;
  for (std::size_t e = 0; e < exchanges_.size(); ++e)
    if (value[exchange_number_[e]] > kNegligible) {
      exchanges.push_back(exchanges_[e]);
      exchanges.back().value = value[exchange_number_[e]];
    }
  const int n = instance_.tasks();
  exchanges = end_to_end(exchanges, cover(packs, n));
  return cover_once(carry_out(std::move(packs), exchanges), n);
}

std::int64_t Relaxation::work() const {
  return pricing_.operations() +
         master_.pivots() * static_cast<std::int64_t>(master_.rows()) * master_.rows();
}

}  // namespace cosched::packs::columns
