// What a set of tasks costs as one pack where they share the machine: the counts that end it first.
//
// c(S) = min over counts q, sum q_i <= p, whose needs fit, of the last progressive end.  A task's
// counts that another one beats in processors, time, needs and traffic alike are never looked at.
// c never falls where S grows: a task that goes leaves the others no slower.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

struct Price {
  double cost = kInfinity;  // infinite where the tasks do not fit, or cost no less than a cutoff
  double lower = 0;         // proven: the tasks cost no less as one pack; cost where that is exact
  std::vector<int> procs;   // a count a task
};

class PackPricer {
 public:
  /// `instance` must outlive it, and share something.
  explicit PackPricer(const Instance& instance);

  /// Bounds c(S) from below, as if nobody slowed anybody.  Infinite where the least needs, or the
  /// fewest processors, are too many together.  O(k log p).
  double lower(const std::vector<int>& tasks);

  /// c(S) by branch and bound from quick()'s counts, where it is below `cutoff`.  After
  /// `most_nodes` the best so far, with lower < cost.  Exponential in k.
  Price exact(const std::vector<int>& tasks, double cutoff = kInfinity,
              std::int64_t most_nodes = 50'000);

  /// Counts that are mostly the best: a processor at a time to the task that ends last, then single
  /// processors moved while that helps.  Not worse than the counts that the same gives where
  /// nothing slows.  `lower` is lower()'s.
  Price quick(const std::vector<int>& tasks);

  /// Evaluations so far: a measure of work.
  std::int64_t evaluations() const { return evaluations_; }

 private:
  void load(const std::vector<int>& tasks);
  double evaluate(const std::vector<int>& chosen);
  bool fits(const std::vector<int>& chosen) const;
  double last_end();
  double factor(int i) const;
  bool needs_fit(int depth) const;
  double bound(int depth, int free);
  void branch(int depth, int used);
  bool first_counts(std::vector<int>& chosen) const;
  int faster_choice(std::vector<int>& chosen, int place) const;
  bool grow(std::vector<int>& chosen, bool slowed);
  void shift(std::vector<int>& chosen, double& cost);
  const std::vector<Choice>& of(int place) const { return choices_[tasks_[place]]; }
  int choice_within(int place, int procs) const;

  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<double> least_need_;  // n x resources, over the choices
  std::vector<double> least_load_;

  // The pack at hand.
  std::vector<int> tasks_;
  std::vector<double> excess_, stall_, alone_, load_;
  // last_end()
  std::vector<int> alive_;
  std::vector<double> left_, since_, factor_, end_;
  // branch()
  std::vector<int> at_, best_, order_;
  double best_cost_ = kInfinity;
  std::int64_t nodes_ = 0, most_nodes_ = 0;
  std::int64_t evaluations_ = 0;
  bool cut_ = false;
  Poll poll_;
};

}  // namespace cosched::packs::shared
