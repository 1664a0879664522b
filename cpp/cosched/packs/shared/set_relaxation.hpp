// The set-partitioning relaxation over packs at their prices, by column generation over sets.
//
//   minimise sum_S c(S) x_S
//   task i:  sum_{S holds i} x_S >= 1                         (price u_i >= 0)
//
// c never falls where S grows, so that covering is no weaker than partitioning.  A set is priced
// only where its worth sum u_i passes its lower bound (pack_table.hpp): the greater of the bound
// without slow-downs and of what is known of smaller sets, above all of pairs and triples that slow
// each other.  All prices divided by the largest worth / lower bound of a set are feasible for the
// dual, which gives a bound at any time.
#pragma once

#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

struct SetRelaxationParams {
  /// Columns that one search for sets adds at most: those of least reduced cost.
  std::size_t columns_per_round = 400;
  /// Relative reduced cost at which the master is optimal, and pivots of one call of it.
  double master_tolerance = 1e-10;
  std::int64_t max_master_pivots = 1'000'000;
};

class SetRelaxation {
 public:
  /// `instance` and `table` must outlive the object.  Throws as check_interrupt().
  SetRelaxation(const Instance& instance, PackTable& table, const SetRelaxationParams& params = {});

  void add_packs(const Packs& packs);

  /// Adds columns until no set has a worth above its price; returns false where about `max_nodes`
  /// sets were examined before.  An exception of check_interrupt() leaves bound() valid.
  bool solve(std::int64_t max_nodes);

  double bound() const { return bound_; }

  struct SetColumn {
    std::vector<int> tasks;
    double reduced_cost;  ///< c(S) - sum of the prices of its tasks, >= 0
  };

  /// All sets that a partition cheaper than `cost` may use: those with a reduced cost of at most
  /// cost - bound() at the prices of the bound.  None where there are more than `max_columns`, or
  /// `max_nodes` do not suffice to find them.
  std::optional<std::vector<SetColumn>> useful_columns(double cost, std::size_t max_columns,
                                                       std::int64_t max_nodes);

 private:
  // Relative: a worth above a price by less is no improvement.
  static constexpr double kTolerance = kExactTolerance;
  // Poll steps (a nanosecond each) of a node of the search for sets, without its children.
  static constexpr std::int64_t kPollStepsPerNode = 200;

  static double rounded_down(double value, int terms) {
    return value * (1 - 2 * sum_rounding(terms + 8.0));
  }

  static double greatest_single_cost(PackTable& table, int tasks);
  void search_sets(std::vector<int>& set, double worth, int from);
  double greatest_added_worth(int from, int room) const;

  SetRelaxationParams params_;
  const Instance& instance_;
  PackTable& table_;
  opt::CoverLp master_;
  double bound_ = 0;
  std::vector<double> best_prices_;

  // State of search_sets().
  std::vector<double> prices_, price_sums_, least_cost_from_;
  std::vector<int> order_;
  double max_reduced_cost_ = 0;  // sets with a smaller reduced cost are collected
  double greatest_ratio_ = 1;
  std::int64_t nodes_ = 0, max_nodes_ = 0;
  std::size_t max_columns_ = 0;
  bool is_search_complete_ = true;
  std::vector<SetColumn> found_columns_;
  Poll poll_;
};

}  // namespace cosched::packs::shared
