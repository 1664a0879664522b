#include "cosched/packs/shared/set_relaxation.hpp"

namespace cosched::packs::shared {

SetRelaxation::SetRelaxation(const Instance& instance, PackTable& table,
                             const SetRelaxationParams& params)
    : params_(params),
      instance_(instance),
      table_(table),
      master_(std::vector<double>(instance.tasks(), 1.0),
              10 * greatest_single_cost(table, instance.tasks())) {
  const int n = instance.tasks();
  for (int i = 0; i < n; ++i) {
    master_.add_column(table.exact_price({i}).cost, {i});
    check_interrupt();
    if (instance.max_tasks() > 1)
      for (int j = i + 1; j < n; ++j)
        table.exact_price({i, j});  // conflicts of pairs say much about all larger sets
  }
}

void SetRelaxation::add_packs(const Packs& packs) {
  for (const std::vector<int>& pack : packs) {
    const double cost = table_.exact_price(pack).cost;
    if (cost < kInfinity) master_.add_column(cost, pack);
  }
}

bool SetRelaxation::solve(std::int64_t max_nodes) {
  const int n = instance_.tasks();
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  std::int64_t remaining_nodes = max_nodes;
  for (;;) {
    check_interrupt();
    master_.solve(params_.master_tolerance, params_.max_master_pivots);
    prices_ = master_.dual();
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return prices_[a] > prices_[b]; });
    price_sums_.assign(n + 1, 0);
    least_cost_from_.assign(n + 1, kInfinity);
    for (int a = 0; a < n; ++a) price_sums_[a + 1] = price_sums_[a] + prices_[order_[a]];
    for (int a = n - 1; a >= 0; --a)
      least_cost_from_[a] = std::min(least_cost_from_[a + 1], table_.exact_price({order_[a]}).cost);
    greatest_ratio_ = 1;
    max_reduced_cost_ = 0;
    nodes_ = 0;
    max_nodes_ = remaining_nodes;
    max_columns_ = std::numeric_limits<std::size_t>::max();
    is_search_complete_ = true;
    found_columns_.clear();
    std::vector<int> set;
    search_sets(set, 0, 0);
    remaining_nodes -= nodes_;
    const double total = std::accumulate(prices_.begin(), prices_.end(), 0.0);
    const double bound = rounded_down(total / greatest_ratio_, n);
    if (bound > bound_) {
      bound_ = bound;
      best_prices_ = prices_;
      for (double& price : best_prices_) price /= greatest_ratio_;
    }
    if (greatest_ratio_ <= 1 + kTolerance) return true;
    if (!is_search_complete_ || remaining_nodes <= 0) return false;
    if (found_columns_.size() > params_.columns_per_round) {
      std::nth_element(
          found_columns_.begin(),
          found_columns_.begin() + static_cast<std::ptrdiff_t>(params_.columns_per_round),
          found_columns_.end(),
          [](const SetColumn& a, const SetColumn& b) { return a.reduced_cost < b.reduced_cost; });
      found_columns_.resize(params_.columns_per_round);
    }
    if (found_columns_.empty())
      return false;  // only sets without a proven price: no column would help
    for (const SetColumn& column : found_columns_)
      master_.add_column(table_.exact_price(column.tasks).cost, column.tasks);
    if (table_.size() > 20'000'000) return false;
  }
}

std::optional<std::vector<SetRelaxation::SetColumn>> SetRelaxation::useful_columns(
    double cost, std::size_t max_columns, std::int64_t max_nodes) {
  const int n = instance_.tasks();
  prices_ = best_prices_;
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int a, int b) { return prices_[a] > prices_[b]; });
  price_sums_.assign(n + 1, 0);
  for (int a = 0; a < n; ++a) price_sums_[a + 1] = price_sums_[a] + prices_[order_[a]];
  least_cost_from_.assign(n + 1, kInfinity);
  for (int a = n - 1; a >= 0; --a)
    least_cost_from_[a] = std::min(least_cost_from_[a + 1], table_.exact_price({order_[a]}).cost);
  max_reduced_cost_ = std::max(0.0, cost - bound_) + kTolerance * cost;
  nodes_ = 0;
  max_nodes_ = max_nodes;
  max_columns_ = max_columns;
  is_search_complete_ = true;
  found_columns_.clear();
  std::vector<int> set;
  search_sets(set, 0, 0);
  if (!is_search_complete_) return std::nullopt;
  return std::move(found_columns_);
}

double SetRelaxation::greatest_single_cost(PackTable& table, int tasks) {
  double greatest = 0;
  for (int i = 0; i < tasks; ++i) greatest = std::max(greatest, table.exact_price({i}).cost);
  return greatest;
}

void SetRelaxation::search_sets(std::vector<int>& set, double worth, int from) {
  const int free_places = instance_.max_tasks() - static_cast<int>(set.size());
  const double set_bound = set.empty() ? 0 : table_.entry_with_bound(set).price.lower_bound;
  for (int a = from; a < static_cast<int>(order_.size()); ++a) {
    const double greatest_worth = worth + greatest_added_worth(a, free_places);
    // Every larger set costs at least as much as this one, and as the cheapest task added to it.
    const double least_cost = std::max(set_bound, least_cost_from_[a]);
    if (least_cost - greatest_worth >= max_reduced_cost_) return;
    ++nodes_;
    if (nodes_ > max_nodes_) {
      is_search_complete_ = false;
      greatest_ratio_ = std::max(greatest_ratio_, greatest_worth / least_cost);
      return;
    }
    poll_.count(kPollStepsPerNode);
    const int i = order_[a];
    const auto place = std::lower_bound(set.begin(), set.end(), i);
    const auto position = place - set.begin();
    set.insert(place, i);
    PackTable::PackEntry& entry = table_.entry_with_bound(set);
    const double total = worth + prices_[i];
    if (entry.price.lower_bound - total < max_reduced_cost_ && !entry.has_exact_price)
      table_.exact_price(set);
    const PackPrice& price = entry.price;
    if (price.lower_bound - total < max_reduced_cost_ && price.lower_bound < kInfinity) {
      greatest_ratio_ = std::max(greatest_ratio_, total / price.lower_bound);
      const bool is_proved = price.lower_bound >= price.cost * (1 - kTolerance);
      if (price.cost - total < max_reduced_cost_ && found_columns_.size() < max_columns_)
        found_columns_.push_back({set, price.cost - total});
      else if (max_reduced_cost_ > 0)
        is_search_complete_ = false;
      if (max_reduced_cost_ > 0 && !is_proved) is_search_complete_ = false;
    }
    if (price.lower_bound < kInfinity && free_places > 1) search_sets(set, total, a + 1);
    set.erase(set.begin() + position);
    if (max_reduced_cost_ > 0 && !is_search_complete_) return;
  }
}

// The greatest worth of `room` more tasks of order_[from..].
double SetRelaxation::greatest_added_worth(int from, int room) const {
  const int to = std::min(from + room, static_cast<int>(order_.size()));
  return price_sums_[to] - price_sums_[from];
}

}  // namespace cosched::packs::shared
