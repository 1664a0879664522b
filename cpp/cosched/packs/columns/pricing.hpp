// Pricing for column generation over packs: which pack is worth most at given prices?
//
// A pack is a set S of tasks with a length D, feasible when every task gets need_i(D) = least q
// with t_i(q) <= D processors, sum of need_i(D) over S <= p, and |S| <= k.  At prices u_i it is
// worth the sum of u_i over S: for a given D a knapsack with a limit on the number of items.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/knapsack.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

/// A pack of nominal length: no shorter than its optimal 1-pack cost.
struct Column {
  double length = 0;
  std::vector<int> tasks;  // increasing
};

/// "At least (at most) `packs` packs have a length >= `length`."
struct CountRow {
  double length;
  int packs;
  bool at_least;
};

/// Task i must be in a pack of length in [least[i], below[i]); empty vectors mean [0, infinity).
struct Restrictions {
  std::vector<double> least, below;
  std::vector<CountRow> counts;

  bool allows(int task, double length) const {
    return least.empty() || (least[task] <= length && length < below[task]);
  }
};

/// Dual values: >= 0 for tasks and "at least" rows, <= 0 for "at most" rows.
struct Prices {
  std::vector<double> task;
  std::vector<double> count;
};

/// What a length is worth through the count rows: sum of the prices of those with row.length <= D.
class CountPrices {
 public:
  CountPrices(const std::vector<CountRow>& rows, const std::vector<double>& prices) {
    for (std::size_t r = 0; r < rows.size(); ++r) total_.emplace_back(rows[r].length, prices[r]);
    std::sort(total_.begin(), total_.end());
    for (std::size_t r = 1; r < total_.size(); ++r) total_[r].second += total_[r - 1].second;
  }

  double operator()(double length) const {
    const auto after =
        std::upper_bound(total_.begin(), total_.end(), length,
                         [](double value, const auto& entry) { return value < entry.first; });
    return after == total_.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<double, double>> total_;  // (length, sum of prices up to it), sorted
};

class Pricing {
 public:
  /// `times` must outlive it.
  Pricing(const Times& times, int max_tasks)
      : times_(&times),
        procs_(times.procs()),
        max_tasks_(max_tasks),
        grain_((times.procs() + kMostCapacity - 1) / kMostCapacity),
        lighter_count_(procs_ / grain_ + 1),
        lighter_weight_(procs_ / grain_ + 1) {}

  struct Options {
    double threshold = 1;   // values up to threshold x length are of no interest
    double resolution = 0;  // relative distance of lengths that are looked at
    double collect = 1;     // columns worth more than collect x length are returned, <= threshold
  };

  /// Looks at the lengths t_i(q) from the longest down.  The best value at D bounds that of all
  /// shorter packs, so after D come only lengths that could pass the threshold and are not within
  /// the resolution.  Appends the best column of each length that is worth `collect`.
  ///
  /// Returns an upper bound on (value of S and of D by the count rows) / D over all feasible
  /// (S, D) where D is a time of a task in S, as every pack's own length is.  It is reached by an
  /// (S, D), D a time of some task that may be in so long a pack or the length of an "at least"
  /// row, up to a factor max(1 / (1 - resolution), threshold / best), and rounded up by more than
  /// its floating-point error.  O(n + one knapsack) for each length looked at.
  double sweep(const Prices& prices, const Restrictions& restrictions, const Options& options,
               std::vector<Column>& columns) {
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

  /// Table cells and task scans so far: a measure of work.
  std::int64_t operations() const { return operations_ + knapsack_.operations(); }

 private:
  static constexpr int kMostCapacity = 4096;  // above it processors are counted in larger units
  static constexpr std::int64_t kInterruptInterval = 1'000'000;  // operations

  // Least q >= from with row[q-1] < limit, or procs + 1: a few steps, then bisection.
  static int least_need(const double* row, int from, int procs, double limit) {
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
  static Marks wanted_lengths(const Restrictions& restrictions) {
    std::vector<double> lengths;
    for (const CountRow& row : restrictions.counts)
      if (row.at_least) lengths.push_back(row.length);
    return Marks(std::move(lengths));
  }

  // Lengths below which a pack may be worth more than the longer ones: a task becomes available, or
  // an "at most" row no longer charges.
  static Marks breakpoints(const Restrictions& restrictions) {
    std::vector<double> lengths;
    for (const CountRow& row : restrictions.counts)
      if (!row.at_least) lengths.push_back(row.length);
    for (const double length : restrictions.below)
      if (length < kInfinity) lengths.push_back(length);
    return Marks(std::move(lengths));
  }

  struct Candidate {  // a task during a sweep
    const double* row;
    double time;  // t_i(need), the longest time below the sweep's limit
    double price;
    int need;  // p + 1 when none is below
    int task;
  };

  // Tasks of positive price, the dearest first; on one processor each.  A task of no price, too,
  // may make a pack as long as others in it must have it.
  void start(const Prices& prices, const Restrictions& restrictions) {
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
  double descend(double limit, const Restrictions& restrictions) {
    double longest = 0;
    const bool restricted = !restrictions.below.empty();
    for (Candidate& c : candidates_) {
      const double own_limit = restricted ? std::min(limit, restrictions.below[c.task]) : limit;
      if (c.time >= own_limit && c.need <= procs_) {
        c.need = least_need(c.row, c.need, procs_, own_limit);
        c.time = c.need <= procs_ ? c.row[c.need - 1] : 0;
      }
      if (c.time > longest && (!restricted || c.time >= restrictions.least[c.task]))
        longest = c.time;
    }
    operations_ += static_cast<std::int64_t>(candidates_.size());
    return longest;
  }

  // The knapsack of one length.  A task is left out when dearer tasks that need no more processors
  // are too many to be all in a pack with it: one of them, not in the pack, could replace it.
  void collect_items(double length, const Restrictions& restrictions) {
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

  Column column(double length) const {
    Column result{length, {}};
    for (const int k : knapsack_.chosen()) result.tasks.push_back(item_task_[k]);
    if (grain_ > 1) drop_excess(result);
    std::sort(result.tasks.begin(), result.tasks.end());
    return result;
  }

  // Rounding processors down may have let in too many tasks: the cheapest, which are last, go.
  void drop_excess(Column& column) const {
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

  const Times* times_;
  int procs_, max_tasks_;
  int grain_;  // processors are counted in units of `grain_`: 1 unless p is very large
  std::vector<Candidate> candidates_;
  std::vector<int> item_task_;
  std::vector<opt::KnapsackItem> items_;
  std::vector<int> lighter_count_, lighter_weight_;
  opt::CardinalityKnapsack knapsack_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::packs::columns
