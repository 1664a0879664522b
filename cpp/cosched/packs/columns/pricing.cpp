#include "cosched/packs/columns/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::packs::columns {
namespace {

constexpr int kMostCapacity = 4096;  // above it processors are counted in larger units
constexpr std::int64_t kInterruptInterval = 1'000'000;  // operations

// Least q >= from with row[q-1] < limit, or procs + 1: a few steps, then bisection.
int least_need(const double* row, int from, int procs, double limit) {
  int q = from;
  for (int step = 0; step < 8; ++step, ++q)
    if (q > procs || row[q - 1] < limit) return q;
  const double* first = std::partition_point(row + q - 1, row + procs,
                                             [limit](double time) { return time >= limit; });
  return static_cast<int>(first - row) + 1;
}

// Sorted descending, for a sweep that only asks for ever smaller lengths.
class Marks {
 public:
  explicit Marks(std::vector<double> lengths) : lengths_(std::move(lengths)) {
    std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
  }
  /// The largest mark < limit (<= limit if `inclusive`), or 0.
  double below(double limit, bool inclusive) {
    while (next_ < lengths_.size() &&
           (inclusive ? lengths_[next_] > limit : lengths_[next_] >= limit))
      ++next_;
    return next_ < lengths_.size() ? lengths_[next_] : 0;
  }

 private:
  std::vector<double> lengths_;
  std::size_t next_ = 0;
};

// Lengths that count rows ask for: at them, too, a pack may be worth more than its shorter peers.
Marks wanted_lengths(const Restrictions& restrictions) {
  std::vector<double> lengths;
  for (const CountRow& row : restrictions.counts)
    if (row.at_least) lengths.push_back(row.length);
  return Marks(std::move(lengths));
}

// Lengths below which a pack may be worth more than the longer ones: a task becomes available, or
// an "at most" row no longer charges.
Marks breakpoints(const Restrictions& restrictions) {
  std::vector<double> lengths;
  for (const CountRow& row : restrictions.counts)
    if (!row.at_least) lengths.push_back(row.length);
  for (const double length : restrictions.below)
    if (length < kInfinity) lengths.push_back(length);
  return Marks(std::move(lengths));
}

}  // namespace

CountPrices::CountPrices(const std::vector<CountRow>& rows, const std::vector<double>& prices) {
  for (std::size_t r = 0; r < rows.size(); ++r) total_.emplace_back(rows[r].length, prices[r]);
  std::sort(total_.begin(), total_.end());
  for (std::size_t r = 1; r < total_.size(); ++r) total_[r].second += total_[r - 1].second;
}

double CountPrices::operator()(double length) const {
  const auto after =
      std::upper_bound(total_.begin(), total_.end(), length,
                       [](double value, const auto& entry) { return value < entry.first; });
  return after == total_.begin() ? 0 : std::prev(after)->second;
}

Pricing::Pricing(const Times& times, int max_tasks)
    : times_(&times),
      procs_(times.procs()),
      max_tasks_(max_tasks),
      grain_((times.procs() + kMostCapacity - 1) / kMostCapacity),
      lighter_count_(procs_ / grain_ + 1),
      lighter_weight_(procs_ / grain_ + 1) {}

// Tasks of positive price, the dearest first; on one processor each.  A task of no price, too, may
// make a pack as long as others in it must have it.
void Pricing::start(const Prices& prices, const Restrictions& restrictions) {
  candidates_.clear();
  for (int i = 0; i < times_->tasks(); ++i) {
    if (restrictions.least.empty() && !(prices.task[i] > 0)) continue;
    const double* t = times_->row(i);
    candidates_.push_back({t, t[0], prices.task[i], 1, i});
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.price > b.price || (a.price == b.price && a.task < b.task);
  });
}

// Least need of every task for a length < limit that its restrictions allow.  Returns the longest
// such length at which a pack may end: t_i(need_i) of a task that may be in so short a pack.
double Pricing::descend(double limit, const Restrictions& restrictions) {
  double longest = 0;
  const bool restricted = !restrictions.below.empty();
  for (Candidate& c : candidates_) {
    const double own_limit = restricted ? std::min(limit, restrictions.below[c.task]) : limit;
    if (c.time >= own_limit && c.need <= procs_) {
      c.need = least_need(c.row, c.need, procs_, own_limit);
      c.time = c.need <= procs_ ? c.row[c.need - 1] : 0;
    }
    if (c.time > longest && (!restricted || c.time >= restrictions.least[c.task])) longest = c.time;
  }
  operations_ += static_cast<std::int64_t>(candidates_.size());
  return longest;
}

// The knapsack of one length.  A task is left out when dearer tasks that need no more processors
// are too many to be all in a pack with it: one of them, not in the pack, could replace it.
void Pricing::collect_items(double length, const Restrictions& restrictions) {
  items_.clear();
  item_task_.clear();
  const int capacity = procs_ / grain_;
  std::fill(lighter_count_.begin(), lighter_count_.end(), 0);
  std::fill(lighter_weight_.begin(), lighter_weight_.end(), 0);
  for (const Candidate& c : candidates_) {
    if (!(c.price > 0)) break;  // the dearest come first
    if (c.need > procs_ || !restrictions.allows(c.task, length)) continue;
    const int weight = c.need / grain_;
    if (lighter_count_[weight] >= max_tasks_ || lighter_weight_[weight] + weight > capacity)
      continue;
    for (int w = weight; w <= capacity; ++w) {
      ++lighter_count_[w];
      lighter_weight_[w] += weight;
    }
    items_.push_back({weight, c.price});
    item_task_.push_back(c.task);
  }
}

Column Pricing::column(double length) const {
  Column result{length, {}};
  for (const int k : knapsack_.chosen()) result.tasks.push_back(item_task_[k]);
  if (grain_ > 1) drop_excess(result);
  std::sort(result.tasks.begin(), result.tasks.end());
  return result;
}

// Rounding processors down may have let in too many tasks: the cheapest, which are last, go.
void Pricing::drop_excess(Column& column) const {
  int left = procs_;
  std::size_t kept = 0;
  for (const int task : column.tasks) {
    const int need =
        least_need(times_->row(task), 1, procs_, std::nextafter(column.length, kInfinity));
    if (need > left) continue;
    left -= need;
    column.tasks[kept++] = task;
  }
  column.tasks.resize(kept);
}

double Pricing::sweep(const Prices& prices, const Restrictions& restrictions,
                      const Options& options, std::vector<Column>& columns) {
  start(prices, restrictions);
  const CountPrices count_price(restrictions.counts, prices.count);
  Marks wanted = wanted_lengths(restrictions), breaks = breakpoints(restrictions);
  double ratio = options.threshold;
  std::int64_t checked = operations();
  for (double limit = kInfinity;;) {
    const double length = std::max(descend(limit, restrictions), wanted.below(limit, false));
    if (length == 0) break;
    collect_items(length, restrictions);
    const double counted = count_price(length), worth = options.collect * length - counted;
    const double value = knapsack_.solve(items_, procs_ / grain_, max_tasks_, worth);
    if (value > worth) columns.push_back(column(length));
    ratio = std::max(ratio, (value + counted) / length);
    // Shorter packs are worth no more than this one, down to the next break: skip to the first
    // that could pass the threshold.
    const double passing = (value + counted) / options.threshold;
    limit = std::min(length, std::max(breaks.below(length, true),
                                      std::min(passing, length * (1 - options.resolution))));
    if (limit > 0 && limit < length) ratio = std::max(ratio, (value + counted) / limit);
    if (operations() - checked > kInterruptInterval) {
      checked = operations();
      check_interrupt();
    }
  }
  const double terms = times_->tasks() + static_cast<double>(restrictions.counts.size()) + 8;
  return ratio * (1 + 2 * terms * std::numeric_limits<double>::epsilon());
}

}  // namespace cosched::packs::columns
