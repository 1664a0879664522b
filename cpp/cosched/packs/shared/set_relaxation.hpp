// The set-partitioning relaxation over packs at their prices, by column generation over sets.
//
//   minimise sum_S c(S) x_S   subject to   sum_{S holds i} x_S >= 1 for every task i        (price
//   u_i >= 0)
//
// c never falls where S grows, so that covering is no weaker than partitioning.  A set is priced
// only where its worth sum u_i passes its lower bound (pack_table.hpp): the greater of the pack as
// if nobody slowed anybody, with the needs of all resources, and of what is known of smaller sets,
// pairs and triples that slow each other above all.  At any prices, all u divided by the largest
// worth / lower bound of a set are feasible for the dual: a bound at any time.
#pragma once

#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

class SetRelaxation {
 public:
  /// `instance` and `table` must outlive it.  Throws as check_interrupt.
  SetRelaxation(const Instance& instance, PackTable& table)
      : instance_(instance),
        table_(table),
        master_(std::vector<double>(instance.tasks(), 1.0), 10 * dearest(table, instance.tasks())) {
    const int n = instance.tasks();
    for (int i = 0; i < n; ++i) {
      master_.add_column(table.exact({i}).cost, {i});
      check_interrupt();
      if (instance.max_tasks() > 1)
        for (int j = i + 1; j < n; ++j)
          table.exact({i, j});  // what conflicts says much of all larger sets
    }
  }

  void add(const Packs& packs) {
    for (const std::vector<int>& pack : packs) {
      const double cost = table_.exact(pack).cost;
      if (cost < kInfinity) master_.add_column(cost, pack);
    }
  }

  /// Until no set has a worth above its price, or some `most_nodes` sets were looked at: false.
  /// May be left by an exception of check_interrupt(): bound() holds.
  bool solve(std::int64_t most_nodes) {
    const int n = instance_.tasks();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    std::int64_t left = most_nodes;
    for (;;) {
      check_interrupt();
      master_.solve(1e-10, kMostPivots);
      prices_ = master_.dual();
      std::stable_sort(order_.begin(), order_.end(),
                       [&](int a, int b) { return prices_[a] > prices_[b]; });
      sums_.assign(n + 1, 0);
      cheapest_.assign(n + 1, kInfinity);
      for (int a = 0; a < n; ++a) sums_[a + 1] = sums_[a] + prices_[order_[a]];
      for (int a = n - 1; a >= 0; --a)
        cheapest_[a] = std::min(cheapest_[a + 1], table_.exact({order_[a]}).cost);
      ratio_ = 1;
      slack_ = 0;
      nodes_ = 0;
      most_nodes_ = left;
      most_found_ = std::numeric_limits<std::size_t>::max();
      whole_ = true;
      found_.clear();
      std::vector<int> set;
      look(set, 0, 0);
      left -= nodes_;
      const double total = std::accumulate(prices_.begin(), prices_.end(), 0.0);
      const double bound = rounded_down(total / ratio_, n);
      if (bound > bound_) {
        bound_ = bound;
        best_prices_ = prices_;
        for (double& price : best_prices_) price /= ratio_;
      }
      if (ratio_ <= 1 + kTolerance) return true;
      if (!whole_ || left <= 0) return false;
      if (found_.size() > kColumnsARound) {
        std::nth_element(
            found_.begin(), found_.begin() + kColumnsARound, found_.end(),
            [](const Column& a, const Column& b) { return a.reduced_cost < b.reduced_cost; });
        found_.resize(kColumnsARound);
      }
      if (found_.empty()) return false;  // prices that are not proved: no column would help
      for (const Column& column : found_)
        master_.add_column(table_.exact(column.tasks).cost, column.tasks);
      if (table_.size() > 20'000'000) return false;
    }
  }

  double bound() const { return bound_; }

  struct Column {
    std::vector<int> tasks;
    double reduced_cost;  // c(S) - sum of its prices, >= 0
  };

  /// All sets that a partition cheaper than `cost` may use, at the prices of the bound: none has a
  /// greater reduced cost than cost - bound().  Nothing where they are more than `most`, or
  /// `most_nodes` do not suffice.
  std::optional<std::vector<Column>> useful(double cost, std::size_t most,
                                            std::int64_t most_nodes) {
    const int n = instance_.tasks();
    prices_ = best_prices_;
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return prices_[a] > prices_[b]; });
    sums_.assign(n + 1, 0);
    for (int a = 0; a < n; ++a) sums_[a + 1] = sums_[a] + prices_[order_[a]];
    cheapest_.assign(n + 1, kInfinity);
    for (int a = n - 1; a >= 0; --a)
      cheapest_[a] = std::min(cheapest_[a + 1], table_.exact({order_[a]}).cost);
    slack_ = std::max(0.0, cost - bound_) + kTolerance * cost;
    nodes_ = 0;
    most_nodes_ = most_nodes;
    most_found_ = most;
    whole_ = true;
    found_.clear();
    std::vector<int> set;
    look(set, 0, 0);
    if (!whole_) return std::nullopt;
    return std::move(found_);
  }

 private:
  static constexpr double kTolerance = 1e-9;  // worth above a price that is rounding
  static constexpr std::size_t kColumnsARound = 400;
  static constexpr std::int64_t kMostPivots = 1'000'000;

  static double rounded_down(double value, int terms) {
    return value * (1 - 4 * (terms + 8.0) * std::numeric_limits<double>::epsilon());
  }

  static double dearest(PackTable& table, int tasks) {
    double most = 0;
    for (int i = 0; i < tasks; ++i) most = std::max(most, table.exact({i}).cost);
    return most;
  }

  void look(std::vector<int>& set, double worth, int from) {
    const int room = instance_.max_tasks() - static_cast<int>(set.size());
    const double at_least = set.empty() ? 0 : table_.bounded(set).price.lower;
    for (int a = from; a < static_cast<int>(order_.size()); ++a) {
      const double most = worth + optimistic(a, room);
      // Every larger set costs no less than this one, and no less than its cheapest new task.
      const double least = std::max(at_least, cheapest_[a]);
      if (least - most >= slack_) return;
      if (++nodes_ > most_nodes_) {
        whole_ = false;
        ratio_ = std::max(ratio_, most / least);
        return;
      }
      poll_.count(200);
      const int i = order_[a];
      const auto place = std::lower_bound(set.begin(), set.end(), i);
      const auto at = place - set.begin();
      set.insert(place, i);
      PackTable::Entry& entry = table_.bounded(set);
      const double total = worth + prices_[i];
      if (entry.price.lower - total < slack_ && !entry.searched) table_.exact(set);
      const Price& price = entry.price;
      if (price.lower - total < slack_ && price.lower < kInfinity) {
        ratio_ = std::max(ratio_, total / price.lower);
        const bool proved = price.lower >= price.cost * (1 - kTolerance);
        if (price.cost - total < slack_ && found_.size() < most_found_)
          found_.push_back({set, price.cost - total});
        else if (slack_ > 0)
          whole_ = false;
        if (slack_ > 0 && !proved) whole_ = false;
      }
      if (price.lower < kInfinity && room > 1) look(set, total, a + 1);
      set.erase(set.begin() + at);
      if (slack_ > 0 && !whole_) return;
    }
  }

  // The most that `room` more of order_[from..] are worth.
  double optimistic(int from, int room) const {
    const int to = std::min(from + room, static_cast<int>(order_.size()));
    return sums_[to] - sums_[from];
  }

  const Instance& instance_;
  PackTable& table_;
  opt::CoverLp master_;
  double bound_ = 0;
  std::vector<double> best_prices_;

  // A look at all sets.
  std::vector<double> prices_, sums_, cheapest_;
  std::vector<int> order_;
  double slack_ = 0;  // sets with a reduced cost below it are found
  double ratio_ = 1;
  std::int64_t nodes_ = 0, most_nodes_ = 0;
  std::size_t most_found_ = 0;
  bool whole_ = true;
  std::vector<Column> found_;
  Poll poll_;
};

}  // namespace cosched::packs::shared
