// Areas of jobs that share the machine: processor seconds, and the same of every resource.
#pragma once

#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::bounds {

/// What job i takes of each row on a count, as a share of the machine: processors, resources, and
/// traffic where the job waits for all of it (stall 1).  Times are in `unit` seconds.
class ResourceRows {
 public:
  /// `instance` must outlive it.  Requires jobs that share something.  Times below `least` units
  /// count as that much.
  explicit ResourceRows(const Instance& instance, double unit = 1, double least = 0);

  int row_count() const { return 1 + sharing_.resources() + (sharing_.has_bandwidth() ? 1 : 0); }
  double share(int row, int i, int q) const;
  const std::vector<Choice>& choices(int i) const { return choices_[i]; }

  /// The sums of the rows where each job takes its cheapest count at these prices, and their price.
  std::pair<std::vector<double>, double> cheapest_response(const std::vector<double>& prices,
                                                           const std::vector<int>& jobs) const;

 private:
  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
};

/// The area of some jobs at prices of the rows.
struct PricedArea {
  double value = 0;
  std::vector<double> prices;  // of the rows, sum 1
};

/// The prices of the rows at which the cheapest counts of the jobs cost most: a matrix game.
PricedArea maximize_area(const ResourceRows& rows, const std::vector<int>& jobs);

/// What area_bound (makespan.hpp) adds where jobs share something: one row for each resource, and
/// one for traffic,
///
///   minimise C : sum_iq x_iq q t_i(q) <= m C,  sum x_iq a_ir(q) t_i(q) <= A_r C,  sum_q x_iq = 1
///
/// and sum over jobs with stall 1 of x b t <= B C (together they never finish more than B a
/// second).  Valid because every factor is >= 1.  By prices of the rows, which are a game; for each
/// release the jobs from then on.
double resource_area_bound(const Instance& instance);

/// A little less than `value`, so that rounding errors of a sum of `terms` terms do not lift a
/// bound.
double round_down(double value, int terms);

}  // namespace cosched::moldable::bounds
