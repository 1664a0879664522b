// The set-partitioning relaxation over packs at their prices, by column generation over sets.
//
//   minimise sum_S c(S) x_S   subject to   sum_{S holds i} x_S >= 1 for every task i        (price u_i >= 0)
//
// c never falls where S grows, so that covering is no weaker than partitioning.  A set is priced only where its worth
// sum u_i passes its lower bound (pack_table.hpp): the greater of the pack as if nobody slowed anybody, with the needs
// of all resources, and of what is known of smaller sets, pairs and triples that slow each other above all.  At any
// prices, all u divided by the largest worth / lower bound of a set are feasible for the dual: a bound at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/opt/cover_lp.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

class SetRelaxation {
 public:
  /// `instance` and `table` must outlive it.  Throws as check_interrupt.
  SetRelaxation(const Instance& instance, PackTable& table);

  void add(const Packs& packs);

  /// Until no set has a worth above its price, or some `most_nodes` sets were looked at: false.  May be left by an
  /// exception of check_interrupt(): bound() holds.
  bool solve(std::int64_t most_nodes);

  double bound() const { return bound_; }

  struct Column {
    std::vector<int> tasks;
    double reduced_cost;  // c(S) - sum of its prices, >= 0
  };
  /// All sets that a partition cheaper than `cost` may use, at the prices of the bound: none has a greater reduced cost
  /// than cost - bound().  Nothing where they are more than `most`, or `most_nodes` do not suffice.
  std::optional<std::vector<Column>> useful(double cost, std::size_t most, std::int64_t most_nodes);

 private:
  void look(std::vector<int>& set, double worth, int from);
  double optimistic(int from, int room) const;

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
