// The set-partitioning relaxation over all packs, by column generation.
//
//   minimise  sum_c D_c x_c
//   task i :  sum_{c holds i} x_c >= 1                        (price u_i >= 0)
//   count r:  sum_{c: D_c >= length_r} x_c >= (<=) packs_r
//
// over all feasible packs c = (S, D_c).  A task covered twice may be dropped from one of its packs,
// so >= is no weaker than =.  Two things make it fast:
//
//   - Dominance.  If task j is never slower than task i (and may be wherever i may), some optimal
//     prices have u_j <= u_i: with u_j > u_i, both set to their mean stay feasible, because in a
//     pack with i and without j, j may replace i.  Columns of cost 0 that exchange i for j put
//     this into the master.
//   - Groups (column_bound.hpp), for many tasks: the master has two rows a group of alike tasks,
//     between whose prices theirs are interpolated.
//   - Smoothing: prices are taken between the master's and the best so far (factor 0.8).
//
// Every pricing gives a bound: prices divided by the largest worth/length of any pack are feasible
// for the dual.  So it holds at any time, whatever the state of the master.
#pragma once

#include <map>

#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"

namespace cosched::packs::columns {

/// Of the (m-1) k + 1 tasks with the longest least times s_1 >= s_2 >= ..., one is not in the m-1
/// longest packs, so m packs are at least s_{(m-1)k+1} long.  At most `most` such rows, evenly
/// chosen.  They make the relaxation as strong as longest_bound.
std::vector<CountRow> least_counts(const Instance& instance, int most = 64);

/// Feasible packs to start from: all runs of pack-by-pack, and every task alone.
std::vector<Column> first_columns(const Instance& instance);

/// Prices that prove area_bound().
Prices area_prices(const Instance& instance);

class Relaxation {
 public:
  /// `instance` must outlive it.  Columns of the pool that break the restrictions are left out.
  Relaxation(const Instance& instance, const Dominance& dominates, Restrictions restrictions,
             const std::vector<Column>& pool)
      : Relaxation(instance, singletons(instance.tasks()), std::move(restrictions)) {
    add_exchanges(dominates);
    add_pool(pool);
  }

  /// With the rows of groups; the restrictions are none but counts.  No fractional_partition().
  Relaxation(const Instance& instance, Groups groups, Restrictions restrictions,
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

  /// Starts from prices of a less restricted relaxation, with 0 for its missing count rows, and
  /// their bound.
  void start_from(const Prices& prices, double bound) {
    best_prices_ = prices;
    best_prices_.count.resize(restrictions_.counts.size(), 0.0);
    bound_ = bound;
  }

  struct Options {
    double tolerance = 1e-5;      // relative gap between master and bound at which it ends
    double cutoff = kInfinity;    // a bound that reaches it ends the call
    std::int64_t most_work = -1;  // operations (about 1e9 a second); -1: no limit
  };

  /// Generates columns.  May be left by an exception of check_interrupt(): bound() stays valid.
  void solve(const Options& options) {
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

  /// Proven: no co-schedule that keeps the restrictions costs less.
  double bound() const { return bound_; }
  /// The prices that prove bound().
  const Prices& prices() const { return best_prices_; }
  /// The packs in the master (exchanges and artificial columns are not among them).
  const std::vector<Column>& columns() const { return columns_; }
  /// The master's solution as a fractional partition: packs with values, every task covered with a
  /// total of 1, the cost that of the master.  Exchanges are carried out in the packs, and tasks
  /// covered too often are dropped from the longest packs with them.
  std::vector<FractionalPack> fractional_partition() const {
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

  /// Operations so far, as `most_work` counts them.
  std::int64_t work() const {
    return pricing_.operations() +
           master_.pivots() * static_cast<std::int64_t>(master_.rows()) * master_.rows();
  }

  /// The master as it stands: what the benchmark of simplex methods records.
  const opt::CoverLp& master() const { return master_; }

 private:
  static constexpr double kSmoothing = 0.8;
  static constexpr double kImproving = 1e-7;  // relative reduced cost of a column worth adding
  static constexpr double kMasterTolerance = 1e-9;
  static constexpr double kArtificialCost = 100;  // times the sum of the least times
  static constexpr int kMostFailures = 20;        // calls of the master without optimum or pivot
  static constexpr std::int64_t kMostPivots = 20'000;  // a call of the master

  static double artificial_cost(const Times& times) {
    double sum = 0;
    for (int i = 0; i < times.tasks(); ++i) sum += times.least(i);
    return kArtificialCost * sum;
  }

  static std::vector<double> right_sides(const Groups& groups, const Restrictions& restrictions) {
    std::vector<double> right(groups.rows, 0.0);
    for (const Share& share : groups.of) {
      right[share.row] += share.weight;
      if (share.weight < 1) right[share.row + 1] += 1 - share.weight;
    }
    for (const CountRow& row : restrictions.counts)
      right.push_back(row.at_least ? row.packs : -row.packs);
    return right;
  }

  Relaxation(const Instance& instance, Groups groups, Restrictions restrictions)
      : instance_(instance),
        groups_(std::move(groups)),
        restrictions_(std::move(restrictions)),
        master_(right_sides(groups_, restrictions_), artificial_cost(instance.times())),
        pricing_(instance.times(), instance.max_tasks()) {}

  // Columns that turn cover of task i into cover of a task j that dominates it.
  void add_exchanges(const Dominance& dominates) {
    exchanges_ = direct_exchanges(instance_.times(), dominates, restrictions_);
    for (const Exchange& exchange : exchanges_)
      exchange_number_.push_back(
          master_.add_column(0, {exchange.for_task, exchange.task}, {1, -1}));
  }

  void add_pool(const std::vector<Column>& pool) {
    for (const CountRow& row : restrictions_.counts)
      if (row.at_least) add({row.length, {}});
    for (const Column& column : pool)
      if (std::all_of(column.tasks.begin(), column.tasks.end(),
                      [&](int i) { return restrictions_.allows(i, column.length); }))
        add(column);
  }

  void add(const Column& column) {
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

  Prices master_prices() const {
    const std::vector<double>& dual = master_.dual();
    Prices prices{{}, {dual.begin() + groups_.rows, dual.end()}};
    for (const auto& [row, weight] : groups_.of) {
      double price = weight * std::max(dual[row], 0.0);
      if (weight < 1) price += (1 - weight) * std::max(dual[row + 1], 0.0);
      prices.task.push_back(price);
    }
    for (std::size_t r = 0; r < prices.count.size(); ++r)
      prices.count[r] =
          std::max(prices.count[r], 0.0) * (restrictions_.counts[r].at_least ? 1 : -1);
    return prices;
  }

  Prices between(const Prices& master, double weight_of_best) const {
    if (weight_of_best == 0) return master;
    Prices prices = master;
    const auto mix = [&](double& value, double best) {
      value = weight_of_best * best + (1 - weight_of_best) * value;
    };
    for (std::size_t i = 0; i < prices.task.size(); ++i) mix(prices.task[i], best_prices_.task[i]);
    for (std::size_t r = 0; r < prices.count.size(); ++r)
      mix(prices.count[r], best_prices_.count[r]);
    return prices;
  }

  // Objective of the dual, rounded down.
  double value_of(const Prices& prices) const {
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

  double worth(const Column& column, const Prices& prices) const {
    double sum = 0;
    for (const int i : column.tasks) sum += prices.task[i];
    for (std::size_t r = 0; r < prices.count.size(); ++r)
      if (column.length >= restrictions_.counts[r].length) sum += prices.count[r];
    return sum;
  }

  // One or more pricings, from smoothed prices towards the master's own, until one finds columns
  // that improve the master.  Returns false when none does.
  bool separate(const Prices& master, double tolerance) {
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

  void improve_bound(const Prices& prices, double ratio) {
    const double bound =
        value_of(prices) / ratio * (1 - 4 * std::numeric_limits<double>::epsilon());
    if (!(bound > bound_)) return;  // also when prices of wildly different sizes overflowed
    bound_ = bound;
    best_prices_ = prices;
  }

  int add_improving(const Prices& master, std::vector<Column>& found) {
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

  void purge() {
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

  const Instance& instance_;
  Groups groups_;
  Restrictions restrictions_;
  opt::CoverLp master_;
  Pricing pricing_;
  std::vector<Column> columns_;
  std::vector<int> number_;           // of each column in the master
  std::vector<Exchange> exchanges_;   // `task` by decreasing times; values unused
  std::vector<int> exchange_number_;  // of each in the master
  Prices best_prices_;
  double bound_ = 0;
  double resolution_ = 0.01;
};

}  // namespace cosched::packs::columns
