// Areas of jobs that share the machine: processor seconds, and as much of every resource.
#pragma once

#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::bounds {

/// What a `unit` of time of job i on a count takes of each row, as a share: processors, resources,
/// and traffic where i waits for all of it (stall 1).
class ResourceRows {
 public:
  /// `instance` must outlive it, and share something.  No time counts as less than `least` units.
  explicit ResourceRows(const Instance& instance, double unit = 1, double least = 0);

  int row_count() const { return 1 + sharing_.resources() + (sharing_.has_bandwidth() ? 1 : 0); }
  double share(int row, int i, int q) const;
  const std::vector<Choice>& choices(int i) const { return choices_[i]; }

  /// The rows' sums where each job takes its cheapest count at these prices, and what that costs.
  std::pair<std::vector<double>, double> cheapest_response(const std::vector<double>& prices,
                                                           const std::vector<int>& jobs) const;

 private:
  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
};

struct PricedArea {
  double value = 0;
  std::vector<double> prices;  // of the rows, sum 1
};

/// The prices at which the jobs' cheapest counts cost most.
PricedArea maximize_area(const ResourceRows& rows, const std::vector<int>& jobs);

/// What area_bound (makespan.hpp) adds where jobs share something: a row a resource, and one of
/// traffic,
///
///   minimise C : sum_iq x_iq q t_i(q) <= m C,  sum x_iq a_ir(q) t_i(q) <= A_r C,  sum_q x_iq = 1
///
/// and sum over jobs with stall 1 of x b t <= B C (together they never finish more than B a
/// second).  Valid because every factor is >= 1.  By prices of the rows, which are a game; for each
/// release the jobs from then on.
double resource_area_bound(const Instance& instance);

/// A bound that rounding errors of `terms` terms do not lift.
double round_down(double value, int terms);

}  // namespace cosched::moldable::bounds
