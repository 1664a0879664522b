// Pricing for column generation over packs: which pack is worth most at given prices?
//
// A pack is a set S of tasks with a length D, feasible when every task gets need_i(D) = least q
// with t_i(q) <= D processors, sum of need_i(D) over S <= p, and |S| <= k.  At prices u_i it is
// worth the sum of u_i over S: for a given D a knapsack with a limit on the number of items.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

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
  CountPrices(const std::vector<CountRow>& rows, const std::vector<double>& prices);
  double operator()(double length) const;

 private:
  std::vector<std::pair<double, double>> total_;  // (length, sum of prices up to it), sorted
};

class Pricing {
 public:
  /// `times` must outlive it.
  Pricing(const Times& times, int max_tasks);

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
               std::vector<Column>& columns);

  /// Table cells and task scans so far: a measure of work.
  std::int64_t operations() const { return operations_ + knapsack_.operations(); }

 private:
  struct Candidate {  // a task during a sweep
    const double* row;
    double time;  // t_i(need), the longest time below the sweep's limit
    double price;
    int need;  // p + 1 when none is below
    int task;
  };
  void start(const Prices& prices, const Restrictions& restrictions);
  double descend(double limit, const Restrictions& restrictions);
  void collect_items(double length, const Restrictions& restrictions);
  Column column(double length) const;
  void drop_excess(Column& column) const;

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
