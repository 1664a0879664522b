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

#include <cstdint>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/columns/pricing.hpp"

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
             const std::vector<Column>& pool);

  /// With the rows of groups; the restrictions are none but counts.  No fractional_partition().
  Relaxation(const Instance& instance, Groups groups, Restrictions restrictions,
             const std::vector<Column>& pool);

  /// Starts from prices of a less restricted relaxation, with 0 for its missing count rows, and
  /// their bound.
  void start_from(const Prices& prices, double bound);

  struct Options {
    double tolerance = 1e-5;      // relative gap between master and bound at which it ends
    double cutoff = kInfinity;    // a bound that reaches it ends the call
    std::int64_t most_work = -1;  // operations (about 1e9 a second); -1: no limit
  };

  /// Generates columns.  May be left by an exception of check_interrupt(): bound() stays valid.
  void solve(const Options& options);

  /// Proven: no co-schedule that keeps the restrictions costs less.
  double bound() const { return bound_; }
  /// The prices that prove bound().
  const Prices& prices() const { return best_prices_; }
  /// The packs in the master (exchanges and artificial columns are not among them).
  const std::vector<Column>& columns() const { return columns_; }
  /// The master's solution as a fractional partition: packs with values, every task covered with a
  /// total of 1, the cost that of the master.  Exchanges are carried out in the packs, and tasks
  /// covered too often are dropped from the longest packs with them.
  std::vector<FractionalPack> fractional_partition() const;
  /// Operations so far, as `most_work` counts them.
  std::int64_t work() const;
  /// The master as it stands: what the benchmark of simplex methods records.
  const opt::CoverLp& master() const { return master_; }

 private:
  Relaxation(const Instance& instance, Groups groups, Restrictions restrictions);
  void add_exchanges(const Dominance& dominates);
  void add_pool(const std::vector<Column>& pool);
  void add(const Column& column);
  Prices master_prices() const;
  Prices between(const Prices& master, double weight_of_best) const;
  double value_of(const Prices& prices) const;
  double worth(const Column& column, const Prices& prices) const;
  bool separate(const Prices& master, double tolerance);
  void improve_bound(const Prices& prices, double ratio);
  int add_improving(const Prices& master, std::vector<Column>& found);
  void purge();

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
