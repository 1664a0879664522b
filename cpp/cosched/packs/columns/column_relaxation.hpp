// The set-partitioning relaxation over all packs, by column generation.
//
//   minimise  sum_c D_c x_c
//   task i :  sum_{c holds i} x_c >= 1                        (price u_i >= 0)
//   count r:  sum_{c: D_c >= length_r} x_c >= (<=) packs_r
//
// over all feasible packs c = (S, D_c).  A task covered twice may be dropped from one of its packs,
// so >= is no weaker than =.  Three things make it fast:
//
//   - Dominance.  If task j is never slower than task i (and may be wherever i may), some optimal
//     prices have u_j <= u_i: with u_j > u_i, both set to their mean stay feasible, because in a
//     pack with i and without j, j may replace i.  Columns of cost 0 that exchange i for j put
//     this into the master.
//   - Groups (task_groups.hpp), for many tasks: the master has two rows for each group of alike
//     tasks, and the price of a task is interpolated between the prices of these rows.
//   - Smoothing: prices are taken between the master's and the best so far (factor 0.8).
//
// Every pricing gives a bound: prices divided by the largest worth/length of any pack are feasible
// for the dual.  So the bound is valid at any time, whatever the state of the master.
#pragma once

#include <map>

#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/columns/dominance.hpp"
#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/columns/pricing.hpp"
#include "cosched/packs/columns/task_groups.hpp"

namespace cosched::packs::columns {

/// Tuning of the column generation.
struct ColumnRelaxationParams {
  double smoothing = 0.8;  ///< weight of the best prices so far in the prices of a pricing
  double improving_reduced_cost = 1e-7;  ///< relative; columns with less are not added
  double master_tolerance = 1e-9;        ///< relative reduced cost at which the master is optimal
  double artificial_cost = 100;          ///< of an artificial column, times the sum of least times
  int max_failures = 20;                 ///< calls of the master without an optimum or a pivot
  std::int64_t max_master_pivots = 20'000;  ///< in one call of the master
  double least_smoothing = 0.3;             ///< weights up to this are not halved but set to 0
  /// At smoothed prices packs worth more than this part of their length are tried, too.
  double least_worth = 0.98;
  int min_added_columns = 50;  ///< that one pricing may add, at least; as many as rows else
  /// Columns are dropped beyond `columns_per_row` for each row and `extra_columns` more, besides
  /// exchanges: those with a relative reduced cost above `useless_reduced_cost`.
  int columns_per_row = 8, extra_columns = 2000;
  double useless_reduced_cost = 0.02;
};

class ColumnRelaxation {
 public:
  /// One row for each task.  `instance` must outlive the object.  Columns of `pool` that break the
  /// restrictions are left out.
  ColumnRelaxation(const Instance& instance, const Dominance& dominates, Restrictions restrictions,
                   const std::vector<PackColumn>& pool);

  /// The rows of `groups`.  Requires restrictions with counts only; fractional_partition() must not
  /// be called.
  ColumnRelaxation(const Instance& instance, TaskGroups groups, Restrictions restrictions,
                   const std::vector<PackColumn>& pool);

  /// Takes over the prices of a less restricted relaxation, with 0 for count rows that it did not
  /// have, and the bound that they prove.
  void start_from(const Prices& prices, double bound);

  struct SolveOptions {
    double tolerance = 1e-5;           ///< relative gap between master and bound at which it ends
    double cutoff = kInfinity;         ///< a bound that reaches it ends the call
    std::int64_t max_operations = -1;  ///< about 1e9 a second; -1: no limit
  };

  /// Generates columns until one of the options ends the call.  An exception of check_interrupt()
  /// leaves bound() valid.
  void solve(const SolveOptions& options);

  /// Proven lower bound on the cost of every co-schedule that keeps the restrictions.
  double bound() const { return bound_; }
  /// The prices that prove bound().
  const Prices& prices() const { return best_prices_; }
  /// The packs in the master (exchanges and artificial columns are not among them).
  const std::vector<PackColumn>& columns() const { return columns_; }
  /// The master's solution as a fractional partition: packs with values, every task covered with a
  /// total of 1, the cost that of the master.  Exchanges are carried out in the packs, and tasks
  /// covered too often are dropped from the longest packs with them.
  std::vector<FractionalPack> fractional_partition() const;

  /// Operations so far, as SolveOptions::max_operations counts them.
  std::int64_t work() const;

  /// The master as it stands: what the benchmark of simplex methods records.
  const opt::CoverLp& master() const { return master_; }

 private:
  static double artificial_cost(const Times& times, double factor);
  static std::vector<double> right_sides(const TaskGroups& groups,
                                         const Restrictions& restrictions);
  ColumnRelaxation(const Instance& instance, TaskGroups groups, Restrictions restrictions);
  void add_exchanges(const Dominance& dominates);
  void add_pool(const std::vector<PackColumn>& pool);
  void add_pack(const PackColumn& column);
  Prices master_prices() const;
  Prices smooth_prices(const Prices& master, double weight_of_best) const;
  double dual_objective(const Prices& prices) const;
  double column_worth(const PackColumn& column, const Prices& prices) const;
  bool price_columns(const Prices& master, double tolerance);
  void improve_bound(const Prices& prices, double ratio);
  int add_improving_columns(const Prices& master, std::vector<PackColumn>& columns);
  void drop_useless_columns();

  ColumnRelaxationParams params_;
  const Instance& instance_;
  TaskGroups groups_;
  Restrictions restrictions_;
  opt::CoverLp master_;
  Pricing pricing_;
  std::vector<PackColumn> columns_;
  std::vector<int> master_column_;  // number of each pack in the master
  std::vector<CoverExchange>
      exchanges_;  // of the master, by decreasing times of the source; values unused
  std::vector<int> exchange_column_;  // number of each exchange in the master
  Prices best_prices_;
  double bound_ = 0;
  double resolution_ = 0.01;  // of the next pricing: falls as the gap closes
};

}  // namespace cosched::packs::columns
