// An upper bound on the worth of every set of jobs that extends a set.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/areas.hpp"

namespace cosched::moldable::shared {

/// At prices u a set S with counts q is worth sum u_i / (t_i(q_i) f_i(S)), where f_i is the
/// slow-down of job i in S.  Jobs are taken in an order, by price per share of the machine; counts
/// on which a job has the same needs and load form a group, and a set says the group of each of its
/// jobs.
///
/// The bound is valid because f grows with S: each job of S, or that joins it, has its factor
/// beside S, or a greater one.  With these factors every extension of S is the solution of a
/// knapsack with one row for processors, for each resource and for traffic.  One row alone, or a
/// weighted sum of rows, taken as a fractional knapsack, is a relaxation, and so is its Lagrangian
/// at any multiplier >= 0.  The terms of the jobs that join add up there, so that suffixes of the
/// sum bound each child (JoinCandidate::extension_bound).
class ExtensionBound {
 public:
  struct SetMember {
    int order_index;  // in order()
    int group_index;  // in count_groups() of the job
  };
  /// Choices of a job with the same needs and load.
  struct CountGroup {
    int first_choice, last_choice;
  };
  /// Sets whose total load is from `low` to `high`, in parts of the bandwidth.  In sets of two jobs
  /// and more every factor is at least what a load of `low` makes it.
  struct LoadInterval {
    double low = 0, high = kInfinity;
  };
  /// A job that may join a set.
  struct JoinCandidate {
    int order_index;
    double factor_bound;     // a lower bound on its slow-down
    double extension_bound;  // on every extension with it but no candidate before it
  };

  /// `surrogate`: weights of the rows for their weighted sum.  `instance` and `rows` must outlive
  /// it.
  ExtensionBound(const Instance& instance, const bounds::ResourceRows& rows,
                 const std::vector<double>& surrogate);

  /// Takes new prices of jobs: the order of jobs, and all hulls.
  void set_prices(const std::vector<double>& prices);

  const std::vector<int>& order() const { return order_; }
  const std::vector<CountGroup>& count_groups(int i) const { return count_groups_[i]; }

  /// Whether the set fits on the machine, on the first count of each group.
  bool has_room_for(const std::vector<SetMember>& set) const;

  /// f_i of each member.  O(k^2).
  std::vector<double> slowdown_factors(const std::vector<SetMember>& set);

  /// Finds the candidates for a set of such a load, from order()[from] on.
  void find_candidates(const std::vector<SetMember>& set, int from, LoadInterval loads);

  const std::vector<JoinCandidate>& candidates() const { return candidates_; }

  /// An upper bound on the worth of the set and of all its extensions by candidates, as
  /// find_candidates() found them for this set; or `cutoff`, where the bound is not above it.
  double bound_extensions(const std::vector<SetMember>& set, const std::vector<double>& factors,
                          LoadInterval loads, double cutoff);

  /// As bound_extensions(), without a cutoff; also sets JoinCandidate::extension_bound.
  double bound_each_candidate(const std::vector<SetMember>& set, const std::vector<double>& factors,
                              LoadInterval loads);

  /// An upper bound on the worth of the set itself, whose counts are not chosen yet.
  double bound_set(const std::vector<SetMember>& set, const std::vector<double>& factors) {
    fill_knapsack(0, set, factors, {}, false);
    return solve_fractional();
  }

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr double kSlack = 1e-8;  // of a row, for rounding errors of sums
  // Nanoseconds, about, for the looks at the clock.
  static constexpr std::int64_t kSortedStep = 100, kPairStep = 3;

  struct HullStep {
    double value, weight;
  };
  // Upper hull of (weight, value) over counts, as steps of falling density from its first point.
  struct DensityHull {
    double base_value = 0, base_weight = 0;
    std::vector<HullStep> steps;
  };
  // A knapsack of one row: the value and the free weight without any step, and the steps that may
  // be taken.
  struct FractionalKnapsack {
    double fixed_value = 0, free_weight = 0;
    std::vector<HullStep> steps;
    std::vector<int> candidate_begins;  // in steps, of each candidate; and the end of the last
  };

  // Groups of neighbouring counts with the same needs and load.
  std::vector<CountGroup> make_count_groups(int i) const;

  double row_weight(std::size_t w, int i, const Choice& c) const;

  bool is_load_row(std::size_t w) const { return w == row_mixes_.size(); }
  std::size_t knapsack_count(LoadInterval loads) const {
    return row_mixes_.size() + (loads.high < kInfinity ? 1 : 0);
  }

  DensityHull make_hull(std::size_t w, int i, CountGroup group, bool from_nothing) const;

  bool has_room_for(int i, const CountGroup& group, int procs) const {
    const int q = rows_.choices(i)[group.first_choice].procs;
    if (procs + q > instance_.machines()) return false;
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(used_resources_[r] + sharing_.need(r, i, q), sharing_.capacity(r))) return false;
    return true;
  }

  double factor_in_set(const std::vector<SetMember>& set, int i) const {
    double f = 1;
    for (const SetMember& member : set)
      f = with_companion(sharing_.rule(), f, sharing_.excess(i, order_[member.order_index]));
    return f;
  }

  // Fills the knapsack of a row with the counts of the set, and with those of the candidates.
  void fill_knapsack(std::size_t w, const std::vector<SetMember>& set,
                     const std::vector<double>& factors, LoadInterval loads, bool with_candidates);

  // The Lagrangian of the knapsack: an upper bound at any multiplier >= 0.
  double lagrangian_at(double multiplier) {
    double sum = knapsack_.fixed_value + multiplier * knapsack_.free_weight;
    for (const HullStep& step : knapsack_.steps)
      sum += std::max(0.0, step.value - multiplier * step.weight);
    steps_ += static_cast<std::int64_t>(knapsack_.steps.size()) / 4;
    return sum;
  }

  // The optimum of the fractional knapsack, and the multiplier at which the Lagrangian is the same.
  double solve_fractional(double* multiplier = nullptr);

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::ResourceRows& rows_;
  std::vector<std::vector<double>>
      row_mixes_;  // weights of the rows, of each knapsack but the load
  std::vector<std::vector<CountGroup>> count_groups_;  // of each job
  std::vector<double> prices_;                         // of each job
  std::vector<int> order_;  // jobs with a price, by price per share of the machine
  std::vector<std::vector<DensityHull>> candidate_hulls_;            // by knapsack and order index
  std::vector<std::vector<std::vector<DensityHull>>> member_hulls_;  // and by group
  std::vector<double> multipliers_;  // of each knapsack, when it was last solved
  std::vector<JoinCandidate> candidates_;
  std::vector<double> used_resources_;
  FractionalKnapsack knapsack_;
  std::vector<HullStep> sorted_steps_;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
