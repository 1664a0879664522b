// Pricing for column generation over packs: which pack is worth most at given prices?
//
// A pack is a set S of tasks with a length D, feasible when every task gets need_i(D) = least q
// with t_i(q) <= D processors, sum of need_i(D) over S <= p, and |S| <= k.  At prices u_i it is
// worth the sum of u_i over S: for a given D a knapsack with a limit on the number of items.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/cardinality_knapsack.hpp"
#include "cosched/packs/columns/prices.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

/// Finds packs of great worth by sweeps over lengths; keeps its memory between sweeps.
class Pricing {
 public:
  /// `times` must outlive the object.
  Pricing(const Times& times, int max_tasks);

  struct SweepOptions {
    double threshold = 1;    ///< packs worth up to threshold x length are of no interest
    double resolution = 0;   ///< relative distance between the lengths examined
    double least_worth = 1;  ///< <= threshold; packs worth more than this x length are returned
  };

  /// Examines the lengths t_i(q) from the longest down.  The best value at a length D bounds that
  /// of all shorter packs, so the next length examined is one that could pass the threshold and is
  /// not within the resolution of D.  Appends to `columns` the best pack of each length whose worth
  /// is above least_worth x length.
  ///
  /// Returns an upper bound on (value of S and of D by the count rows) / D over all feasible
  /// (S, D) where D is a time of a task in S, as every pack's own length is.  It is reached by an
  /// (S, D), D a time of some task that may be in so long a pack or the length of an "at least"
  /// row, up to a factor max(1 / (1 - resolution), threshold / best), and rounded up by more than
  /// its floating-point error.  O(n + one knapsack) for each length looked at.
  double sweep(const Prices& prices, const Restrictions& restrictions, const SweepOptions& options,
               std::vector<PackColumn>& columns);

  /// Work so far: table cells of knapsacks and scans of tasks.
  std::int64_t operations() const { return operations_ + knapsack_.operations(); }

 private:
  // With more processors than this the knapsack counts them in larger units: its table, which has a
  // cell for each count of tasks and processors, then stays in the second-level cache.
  static constexpr int kMaxCapacity = 4096;
  // Operations between two calls of check_interrupt(): about a millisecond.
  static constexpr std::int64_t kInterruptInterval = 1'000'000;

  static int least_need(const double* row, int from, int procs, double limit);

  // Lengths in decreasing order, for a sweep that asks for ever smaller ones.
  class DescendingLengths {
   public:
    explicit DescendingLengths(std::vector<double> lengths) : lengths_(std::move(lengths)) {
      std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
    }
    /// The largest length < limit (<= limit if `inclusive`), or 0.  Limits must not rise from call
    /// to call.
    double largest_below(double limit, bool inclusive) {
      while (next_ < lengths_.size() &&
             (inclusive ? lengths_[next_] > limit : lengths_[next_] >= limit))
        ++next_;
      return next_ < lengths_.size() ? lengths_[next_] : 0;
    }

   private:
    std::vector<double> lengths_;
    std::size_t next_ = 0;
  };

  static DescendingLengths requested_lengths(const Restrictions& restrictions);
  static DescendingLengths break_lengths_of(const Restrictions& restrictions);

  // A task during a sweep.
  struct PricedTask {
    const double* row;  // its times
    double time;        // t_i(need), its longest time below the limit of the sweep
    double price;
    int need;  // the least processors with a time below the limit; p + 1: there are none
    int task;
  };

  void start_sweep(const Prices& prices, const Restrictions& restrictions);
  double update_needs(double limit, const Restrictions& restrictions);
  void collect_items(double length, const Restrictions& restrictions);
  PackColumn make_column(double length) const;
  void drop_excess(PackColumn& column) const;

  const Times* times_;
  int procs_, max_tasks_;
  int procs_per_unit_;  // unit in which the knapsack counts processors: 1 up to kMaxCapacity
  std::vector<PricedTask> priced_tasks_;
  std::vector<int> item_task_;  // of each item of the knapsack
  std::vector<opt::KnapsackItem> items_;
  // Of each weight: how many items so far weigh no more, and their total weight.
  std::vector<int> lighter_count_, lighter_weight_;
  opt::CardinalityKnapsack knapsack_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::packs::columns
