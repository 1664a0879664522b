#include "cosched/packs/columns/pricing.hpp"

namespace cosched::packs::columns {

Pricing::Pricing(const Times& times, int max_tasks)
    : times_(&times),
      procs_(times.procs()),
      max_tasks_(max_tasks),
      procs_per_unit_((times.procs() + kMaxCapacity - 1) / kMaxCapacity),
      lighter_count_(procs_ / procs_per_unit_ + 1),
      lighter_weight_(procs_ / procs_per_unit_ + 1) {}

double Pricing::sweep(const Prices& prices, const Restrictions& restrictions,
                      const SweepOptions& options, std::vector<PackColumn>& columns) {
  start_sweep(prices, restrictions);
  const CountPrices count_price(restrictions.counts, prices.count);
  DescendingLengths requested = requested_lengths(restrictions),
                    break_lengths = break_lengths_of(restrictions);
  double ratio = options.threshold;
  std::int64_t operations_checked = operations();
  for (double limit = kInfinity;;) {
    const double length =
        std::max(update_needs(limit, restrictions), requested.largest_below(limit, false));
    if (length == 0) break;
    collect_items(length, restrictions);
    const double count_value = count_price(length),
                 worth = options.least_worth * length - count_value;
    const double value = knapsack_.solve(items_, procs_ / procs_per_unit_, max_tasks_, worth);
    if (value > worth) columns.push_back(make_column(length));
    ratio = std::max(ratio, (value + count_value) / length);
    // Down to the next break length shorter packs are worth no more than this one: skip to the
    // first length at which such a worth could pass the threshold.
    const double passing_length = (value + count_value) / options.threshold;
    limit = std::min(length, std::max(break_lengths.largest_below(length, true),
                                      std::min(passing_length, length * (1 - options.resolution))));
    if (limit > 0 && limit < length) ratio = std::max(ratio, (value + count_value) / limit);
    if (operations() - operations_checked > kInterruptInterval) {
      operations_checked = operations();
      check_interrupt();
    }
  }
  const double terms = times_->tasks() + static_cast<double>(restrictions.counts.size()) + 8;
  return ratio * (1 + sum_rounding(terms));
}

// The least q >= from with row[q-1] < limit, or procs + 1 where there is none.  Tries a few steps
// first, because needs mostly rise by little, and then bisection.
int Pricing::least_need(const double* row, int from, int procs, double limit) {
  constexpr int kFirstSteps = 8;  // about what a bisection over 2^8 counts costs
  int q = from;
  for (int step = 0; step < kFirstSteps; ++step, ++q)
    if (q > procs || row[q - 1] < limit) return q;
  const double* first_below = std::partition_point(row + q - 1, row + procs,
                                                   [limit](double time) { return time >= limit; });
  return static_cast<int>(first_below - row) + 1;
}

// The lengths of "at least" rows: a pack of such a length gains the price of the row.
Pricing::DescendingLengths Pricing::requested_lengths(const Restrictions& restrictions) {
  std::vector<double> lengths;
  for (const CountRow& row : restrictions.counts)
    if (row.at_least) lengths.push_back(row.length);
  return DescendingLengths(std::move(lengths));
}

// Lengths below which a pack may be worth more than longer ones, because a task becomes available
// or an "at most" row no longer charges its price.
Pricing::DescendingLengths Pricing::break_lengths_of(const Restrictions& restrictions) {
  std::vector<double> lengths;
  for (const CountRow& row : restrictions.counts)
    if (!row.at_least) lengths.push_back(row.length);
  for (const double length : restrictions.below_length)
    if (length < kInfinity) lengths.push_back(length);
  return DescendingLengths(std::move(lengths));
}

// Lists the tasks by decreasing price, each on one processor.  Tasks without a price are left out,
// except under restrictions: there such a task may give a pack the length that other tasks require.
void Pricing::start_sweep(const Prices& prices, const Restrictions& restrictions) {
  priced_tasks_.clear();
  for (int i = 0; i < times_->tasks(); ++i) {
    if (restrictions.least_length.empty() && !(prices.task[i] > 0)) continue;
    const double* times = times_->row(i);
    priced_tasks_.push_back({times, times[0], prices.task[i], 1, i});
  }
  std::sort(priced_tasks_.begin(), priced_tasks_.end(),
            [](const PricedTask& a, const PricedTask& b) {
              return a.price > b.price || (a.price == b.price && a.task < b.task);
            });
}

// Raises the need of each task to the least for a length < limit that its restrictions allow.
// Returns the longest time t_i(need_i) of a task that may be in a pack of that length: the next
// length at which a pack may end.
double Pricing::update_needs(double limit, const Restrictions& restrictions) {
  double longest = 0;
  const bool has_restrictions = !restrictions.below_length.empty();
  for (PricedTask& priced : priced_tasks_) {
    const double task_limit =
        has_restrictions ? std::min(limit, restrictions.below_length[priced.task]) : limit;
    if (priced.time >= task_limit && priced.need <= procs_) {
      priced.need = least_need(priced.row, priced.need, procs_, task_limit);
      priced.time = priced.need <= procs_ ? priced.row[priced.need - 1] : 0;
    }
    if (priced.time > longest &&
        (!has_restrictions || priced.time >= restrictions.least_length[priced.task]))
      longest = priced.time;
  }
  operations_ += static_cast<std::int64_t>(priced_tasks_.size());
  return longest;
}

// Fills items_ for the knapsack of one length.  A task is left out where the dearer tasks that need
// no more processors are too many to be all in a pack with it: one that is not could replace it.
void Pricing::collect_items(double length, const Restrictions& restrictions) {
  items_.clear();
  item_task_.clear();
  const int capacity = procs_ / procs_per_unit_;
  std::fill(lighter_count_.begin(), lighter_count_.end(), 0);
  std::fill(lighter_weight_.begin(), lighter_weight_.end(), 0);
  for (const PricedTask& priced : priced_tasks_) {
    if (!(priced.price > 0)) break;  // the dearest come first
    if (priced.need > procs_ || !restrictions.is_allowed(priced.task, length)) continue;
    const int weight = priced.need / procs_per_unit_;
    if (lighter_count_[weight] >= max_tasks_ || lighter_weight_[weight] + weight > capacity)
      continue;
    for (int w = weight; w <= capacity; ++w) {
      ++lighter_count_[w];
      lighter_weight_[w] += weight;
    }
    items_.push_back({weight, priced.price});
    item_task_.push_back(priced.task);
  }
}

PackColumn Pricing::make_column(double length) const {
  PackColumn result{length, {}};
  for (const int k : knapsack_.chosen()) result.tasks.push_back(item_task_[k]);
  if (procs_per_unit_ > 1) drop_excess(result);
  std::sort(result.tasks.begin(), result.tasks.end());
  return result;
}

// Units of several processors round needs down, so a choice may not fit.  Drops tasks that do not
// fit, the cheapest, which are last.
void Pricing::drop_excess(PackColumn& column) const {
  int free_procs = procs_;
  std::size_t kept_tasks = 0;
  for (const int task : column.tasks) {
    const int need =
        least_need(times_->row(task), 1, procs_, std::nextafter(column.length, kInfinity));
    if (need > free_procs) continue;
    free_procs -= need;
    column.tasks[kept_tasks] = task;
    ++kept_tasks;
  }
  column.tasks.resize(kept_tasks);
}

}  // namespace cosched::packs::columns
