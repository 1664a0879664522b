#include "cosched/packs/columns/column_relaxation.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::packs::columns {

ColumnRelaxation::ColumnRelaxation(const Instance& instance, const Dominance& dominates,
                                   Restrictions restrictions, const std::vector<PackColumn>& pool)
    : ColumnRelaxation(instance, singleton_groups(instance.tasks()), std::move(restrictions)) {
  add_exchanges(dominates);
  add_pool(pool);
}

ColumnRelaxation::ColumnRelaxation(const Instance& instance, TaskGroups groups,
                                   Restrictions restrictions, const std::vector<PackColumn>& pool)
    : ColumnRelaxation(instance, std::move(groups), std::move(restrictions)) {
  COSCHED_ASSERT(restrictions_.least_length.empty() && restrictions_.below_length.empty());
  // Exchanges between rows stand for those between their typical tasks.  They speed the master up,
  // and do not affect the validity of the bound.
  Table rows(groups_.rows, instance.procs());
  for (int g = 0; g < groups_.rows; ++g)
    std::copy_n(instance.times().row(groups_.typical_tasks[g]), instance.procs(), &rows(g, 0));
  const Times typical(std::move(rows));
  for (const CoverExchange& exchange :
       list_direct_exchanges(typical, compute_dominance(typical), {}))
    master_.add_column(0, {exchange.target_task, exchange.source_task}, {1, -1});
  add_pool(pool);
}

void ColumnRelaxation::start_from(const Prices& prices, double bound) {
  best_prices_ = prices;
  best_prices_.count.resize(restrictions_.counts.size(), 0.0);
  bound_ = bound;
}

void ColumnRelaxation::solve(const SolveOptions& options) {
  int failures = 0;
  for (;;) {
    check_interrupt();
    const std::int64_t pivots = master_.pivots();
    const bool is_solved = master_.solve(params_.master_tolerance, params_.max_master_pivots);
    if (!is_solved || master_.pivots() == pivots) ++failures;
    if (failures > params_.max_failures) return;
    const double gap = master_.objective() - bound_;
    if (bound_ >= options.cutoff || gap <= options.tolerance * master_.objective()) return;
    if (options.max_operations >= 0 && work() > options.max_operations) return;
    resolution_ = std::min(resolution_, gap / master_.objective() / 4);
    if (!price_columns(master_prices(), options.tolerance)) {
      // No pack improves the master at this resolution.
      if (resolution_ < options.tolerance / 64) return;
      resolution_ /= 4;
    }
    drop_useless_columns();
  }
}

std::vector<FractionalPack> ColumnRelaxation::fractional_partition() const {
  const std::vector<double> value = master_.solution();
  std::vector<FractionalPack> packs;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (value[master_column_[c]] > kNegligibleValue)
      packs.push_back({columns_[c], value[master_column_[c]]});
  std::vector<CoverExchange> exchanges;
  for (std::size_t e = 0; e < exchanges_.size(); ++e)
    if (value[exchange_column_[e]] > kNegligibleValue) {
      exchanges.push_back(exchanges_[e]);
      exchanges.back().value = value[exchange_column_[e]];
    }
  const int n = instance_.tasks();
  exchanges = compose_exchanges(exchanges, total_cover(packs, n));
  return cover_once(apply_exchanges(std::move(packs), exchanges), n);
}

std::int64_t ColumnRelaxation::work() const {
  return pricing_.operations() +
         master_.pivots() * static_cast<std::int64_t>(master_.rows()) * master_.rows();
}

double ColumnRelaxation::artificial_cost(const Times& times, double factor) {
  double sum = 0;
  for (int i = 0; i < times.tasks(); ++i) sum += times.least(i);
  return factor * sum;
}

std::vector<double> ColumnRelaxation::right_sides(const TaskGroups& groups,
                                                  const Restrictions& restrictions) {
  std::vector<double> right(groups.rows, 0.0);
  for (const RowInterpolation& share : groups.interpolation_of_task) {
    right[share.row] += share.weight;
    if (share.weight < 1) right[share.row + 1] += 1 - share.weight;
  }
  for (const CountRow& row : restrictions.counts)
    right.push_back(row.at_least ? row.packs : -row.packs);
  return right;
}

ColumnRelaxation::ColumnRelaxation(const Instance& instance, TaskGroups groups,
                                   Restrictions restrictions)
    : instance_(instance),
      groups_(std::move(groups)),
      restrictions_(std::move(restrictions)),
      master_(right_sides(groups_, restrictions_),
              artificial_cost(instance.times(), params_.artificial_cost)),
      pricing_(instance.times(), instance.max_tasks()) {}

// Adds a column for each direct exchange: cover of a task becomes cover of one that dominates it.
void ColumnRelaxation::add_exchanges(const Dominance& dominates) {
  exchanges_ = list_direct_exchanges(instance_.times(), dominates, restrictions_);
  for (const CoverExchange& exchange : exchanges_)
    exchange_column_.push_back(
        master_.add_column(0, {exchange.target_task, exchange.source_task}, {1, -1}));
}

void ColumnRelaxation::add_pool(const std::vector<PackColumn>& pool) {
  for (const CountRow& row : restrictions_.counts)
    if (row.at_least) add_pack({row.length, {}});
  for (const PackColumn& column : pool)
    if (std::all_of(column.tasks.begin(), column.tasks.end(),
                    [&](int i) { return restrictions_.is_allowed(i, column.length); }))
      add_pack(column);
}

void ColumnRelaxation::add_pack(const PackColumn& column) {
  std::map<int, double> cover_of_rows;
  for (const int i : column.tasks) {
    const RowInterpolation share = groups_.interpolation_of_task[i];
    cover_of_rows[share.row] += share.weight;
    if (share.weight < 1) cover_of_rows[share.row + 1] += 1 - share.weight;
  }
  std::vector<int> rows;
  std::vector<double> values;
  for (const auto& [group, value] : cover_of_rows) {
    rows.push_back(group);
    values.push_back(value);
  }
  for (std::size_t r = 0; r < restrictions_.counts.size(); ++r) {
    const CountRow& row = restrictions_.counts[r];
    if (column.length < row.length) continue;
    rows.push_back(groups_.rows + static_cast<int>(r));
    values.push_back(row.at_least ? 1 : -1);
  }
  master_column_.push_back(master_.add_column(column.length, rows, values));
  columns_.push_back(column);
}

Prices ColumnRelaxation::master_prices() const {
  const std::vector<double>& dual = master_.dual();
  Prices prices{{}, {dual.begin() + groups_.rows, dual.end()}};
  for (const auto& [row, weight] : groups_.interpolation_of_task) {
    double price = weight * std::max(dual[row], 0.0);
    if (weight < 1) price += (1 - weight) * std::max(dual[row + 1], 0.0);
    prices.task.push_back(price);
  }
  for (std::size_t r = 0; r < prices.count.size(); ++r)
    prices.count[r] = std::max(prices.count[r], 0.0) * (restrictions_.counts[r].at_least ? 1 : -1);
  return prices;
}

Prices ColumnRelaxation::smooth_prices(const Prices& master, double weight_of_best) const {
  if (weight_of_best == 0) return master;
  Prices prices = master;
  const auto mix = [&](double& value, double best) {
    value = weight_of_best * best + (1 - weight_of_best) * value;
  };
  for (std::size_t i = 0; i < prices.task.size(); ++i) mix(prices.task[i], best_prices_.task[i]);
  for (std::size_t r = 0; r < prices.count.size(); ++r) mix(prices.count[r], best_prices_.count[r]);
  return prices;
}

// The objective of the dual at these prices, rounded down by more than its floating-point error.
double ColumnRelaxation::dual_objective(const Prices& prices) const {
  double sum = 0, magnitude = 0;
  for (const double u : prices.task) sum += u;
  magnitude = sum;
  for (std::size_t r = 0; r < prices.count.size(); ++r) {
    const double part = prices.count[r] * restrictions_.counts[r].packs;
    sum += part;
    magnitude += std::abs(part);
  }
  const double terms = static_cast<double>(prices.task.size() + prices.count.size()) + 8;
  return sum - sum_rounding(terms) * magnitude;
}

double ColumnRelaxation::column_worth(const PackColumn& column, const Prices& prices) const {
  double sum = 0;
  for (const int i : column.tasks) sum += prices.task[i];
  for (std::size_t r = 0; r < prices.count.size(); ++r)
    if (column.length >= restrictions_.counts[r].length) sum += prices.count[r];
  return sum;
}

// Runs one or more pricings, at first at smoothed prices and then closer and closer to the prices
// of the master, until one finds columns that improve the master.  Returns false where none does.
bool ColumnRelaxation::price_columns(const Prices& master, double tolerance) {
  double weight = best_prices_.task.empty() ? 0 : params_.smoothing;
  for (;;) {
    const Prices prices = smooth_prices(master, weight);
    std::vector<PackColumn> columns;
    Pricing::SweepOptions options;
    options.resolution = resolution_;
    options.least_worth = weight > 0 ? params_.least_worth : 1;
    improve_bound(prices, pricing_.sweep(prices, restrictions_, options, columns));
    if (add_improving_columns(master, columns) > 0) return true;
    if (master_.objective() - bound_ <= tolerance * master_.objective()) return true;
    if (weight == 0) return false;
    weight = weight > params_.least_smoothing ? weight / 2 : 0;
  }
}

void ColumnRelaxation::improve_bound(const Prices& prices, double ratio) {
  const double bound = dual_objective(prices) / ratio * (1 - sum_rounding(2));
  if (!(bound > bound_)) return;  // also where `bound` is no number, after an overflow
  bound_ = bound;
  best_prices_ = prices;
}

int ColumnRelaxation::add_improving_columns(const Prices& master,
                                            std::vector<PackColumn>& columns) {
  std::vector<std::pair<double, std::size_t>> improving;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double ratio = column_worth(columns[c], master) / columns[c].length;
    if (ratio > 1 + params_.improving_reduced_cost) improving.emplace_back(-ratio, c);
  }
  std::sort(improving.begin(), improving.end());
  const auto max_columns =
      static_cast<std::size_t>(std::max(params_.min_added_columns, groups_.rows));
  if (improving.size() > max_columns) improving.resize(max_columns);
  for (const auto& entry : improving) add_pack(columns[entry.second]);
  return static_cast<int>(improving.size());
}

void ColumnRelaxation::drop_useless_columns() {
  const int max_columns = params_.columns_per_row * master_.rows() +
                          static_cast<int>(exchanges_.size()) + params_.extra_columns;
  if (master_.columns() <= max_columns) return;
  const std::vector<int> new_number = master_.drop_columns(params_.useless_reduced_cost);
  std::size_t kept_count = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (new_number[master_column_[c]] < 0) continue;
    master_column_[kept_count] = new_number[master_column_[c]];
    if (kept_count != c) columns_[kept_count] = std::move(columns_[c]);
    ++kept_count;
  }
  columns_.resize(kept_count);
  master_column_.resize(kept_count);
  kept_count = 0;
  for (std::size_t e = 0; e < exchanges_.size(); ++e) {
    if (new_number[exchange_column_[e]] < 0) continue;
    exchanges_[kept_count] = exchanges_[e];
    exchange_column_[kept_count] = new_number[exchange_column_[e]];
    ++kept_count;
  }
  exchanges_.resize(kept_count);
  exchange_column_.resize(kept_count);
}

}  // namespace cosched::packs::columns
