// The cost of a set of tasks as one pack where they share the machine, and the numbers of
// processors that attain it.
//
// c(S) = min over counts q, sum q_i <= p, whose needs fit, of the last progressive end.  A task's
// counts are left out where another count is no worse in processors, time, needs and traffic.  c
// never falls where S grows, because the other tasks are no slower without a task.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"
#include "cosched/core/processor_choice.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

struct PackPrice {
  double cost = kInfinity;  ///< infinite where the tasks do not fit, or cost no less than a cutoff
  double lower_bound = 0;   ///< proven; equals `cost` where that is exact
  std::vector<int> procs;   ///< of each task
};

class PackPricer {
 public:
  static constexpr int kMaxBranchedTasks = 2'000;

  /// Requires an instance whose tasks share something; it must outlive the object.
  explicit PackPricer(const Instance& instance);

  /// A lower bound on c(S), without slow-downs.  Infinite where the least needs or the fewest
  /// processors do not fit together.  O(k log p).
  double lower_bound(const std::vector<int>& tasks);

  /// c(S), where it is below `cutoff`, by branch and bound from the counts of quick_price().  After
  /// `max_nodes`, and beyond kMaxBranchedTasks tasks, the best so far, with lower_bound < cost.
  /// Exponential in k.
  PackPrice exact_price(const std::vector<int>& tasks, double cutoff = kInfinity,
                        std::int64_t max_nodes = 50'000);

  /// A price that is mostly c(S): the task that ends last gets one more processor at a time, then
  /// single processors move between tasks while the pack ends earlier.  No worse than the counts
  /// that this method finds without slow-downs.
  PackPrice quick_price(const std::vector<int>& tasks);

  /// Work so far: evaluations of counts.
  std::int64_t evaluations() const { return evaluations_; }

 private:
  void load_pack(const std::vector<int>& tasks);
  double evaluate_choices(const std::vector<int>& chosen);
  bool can_fit(const std::vector<int>& chosen) const;
  double compute_last_end();
  double slowdown_factor(int i) const;
  bool can_fit_needs(int depth) const;
  double bound_last_end(int depth, int free);
  void branch(int depth, int procs_used);
  bool choose_first_counts(std::vector<int>& chosen) const;
  int faster_choice(std::vector<int>& chosen, int place) const;
  bool grow_counts(std::vector<int>& chosen, bool counts_slowdowns);
  void shift_procs(std::vector<int>& chosen, double& cost);
  const std::vector<Choice>& choices_of(int place) const { return choices_[tasks_[place]]; }
  int choice_within(int place, int procs) const;

  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<double> least_need_;  // n x resources, over the choices
  std::vector<double> least_load_;

  // Scratch memory of lower_bound().
  std::vector<int> lower_choice_;
  std::vector<double> lower_time_;
  // The pack that load_pack() has loaded.  Its tasks have places 0..k-1.
  std::vector<int> tasks_;
  std::vector<double> excess_, stall_, time_alone_, traffic_;
  // Scratch memory of compute_last_end().
  std::vector<int> running_places_;
  std::vector<double> remaining_time_, factor_since_, current_factor_, expected_end_;
  // State of branch().
  std::vector<int> current_choice_, best_choices_, branching_order_;
  double best_cost_ = kInfinity;
  std::int64_t nodes_ = 0, max_nodes_ = 0;
  std::int64_t evaluations_ = 0;
  bool is_cut_ = false;
  Poll poll_;
};

}  // namespace cosched::packs::shared
