// Few jobs with precedence and resources, as flat tables for proofs.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/graph/precedence.hpp"
#include "cosched/moldable/search/job_set.hpp"

namespace cosched::moldable::search {

/// The jobs of an instance without slow-downs.  A *measure* is something of which the machine has a
/// limited amount: measure 0 is processors, counted; measure r > 0 is resource r - 1, in shares of
/// its capacity.  Measures that are added stand for bounds: no set of jobs that fits side by side
/// needs more than 1 of them.
///
/// Notation = code: choice c of job j takes time(j, c) seconds and need(j, c)[r] of measure r;
/// tail(j) = seconds of the longest path behind job j by least times.
class GraphJobs {
 public:
  /// Requires at most 30 jobs, which are bits of a JobSet.  `instance` must outlive it.
  explicit GraphJobs(const Instance& instance);

  /// Adds a mix of all real measures as a measure: the sum of price x part of the capacity.
  /// Requires prices that sum to 1.
  void add_mix(std::vector<double> prices);

  /// Adds what a choice earns a second, where the whole job earns its price, as a measure.
  /// Requires prices at which no set of jobs that fits side by side earns more than 1 a second.
  void add_earnings(std::vector<double> prices) {
    drop_rounding_errors(prices);
    add_measure([&](int choice) { return prices[job_[choice]] / time_[choice]; });
  }

  const Instance& instance() const { return instance_; }
  int jobs() const { return instance_.jobs(); }
  JobSet all_jobs() const { return first_jobs(jobs()); }
  bool has_edges() const { return instance_.graph() != nullptr; }

  /// The real measures are numbered first, then those that were added.
  int measures() const { return measures_; }
  int real_measures() const { return real_measures_; }
  /// The amount of a measure that the idle machine has: its processors, or 1.
  double capacity(int measure) const { return capacity_[measure]; }

  /// Choices of job j are numbered from first(j) up to first(j + 1).
  int first_choice(int job) const { return first_choice_[job]; }
  double time(int choice) const { return time_[choice]; }
  const double* need(int choice) const { return &need_[std::size_t(choice) * measures_]; }
  const graph::JobChoice& choice(int job, int number) const {
    return choices_[job][number - first_choice_[job]];
  }

  JobSet predecessors(int job) const { return predecessors_[job]; }
  /// Jobs of lower number that may be exchanged with this one in any schedule.
  JobSet identical_before(int job) const { return identical_before_[job]; }
  /// All jobs, each after its predecessors.
  const std::vector<int>& topological_order() const { return graph_->order(); }
  const std::vector<double>& heads() const { return heads_; }
  double tail(int job) const { return tails_[job]; }

  /// Whether the `free` amounts of all real measures suffice for a choice.
  bool has_room_for(int choice, const double* free) const {
    const double* const choice_need = need(choice);
    if (choice_need[0] > free[0]) return false;
    for (int measure = 1; measure < real_measures_; ++measure)
      if (choice_need[measure] > free[measure] + kExactTolerance) return false;
    return true;
  }

 private:
  // Prices near 0 would make needs that are smaller than the rounding errors of free amounts.
  static void drop_rounding_errors(std::vector<double>& prices) {
    constexpr double kLeastPrice = 1e-6;  // of the highest
    const double least_price = kLeastPrice * *std::max_element(prices.begin(), prices.end());
    for (double& price : prices)
      if (price < least_price) price = 0;
  }

  template <class NeedOf>
  void add_measure(NeedOf need_of) {
    std::vector<double> needs;
    for (int choice = 0; choice < static_cast<int>(time_.size()); ++choice) {
      needs.insert(needs.end(), need(choice), need(choice) + measures_);
      needs.push_back(need_of(choice));
    }
    need_ = std::move(needs);
    capacity_.push_back(1);
    ++measures_;
  }

  void find_neighbours();

  void find_identical_jobs() {
    identical_before_.assign(jobs(), 0);
    for (int job = 0; job < jobs(); ++job)
      for (int other = 0; other < job; ++other)
        if (are_alike(job, other)) identical_before_[job] = with_job(identical_before_[job], other);
  }

  bool are_alike(int job, int other) const;

  const Instance& instance_;
  const graph::JobChoices choices_;
  const graph::Precedence graph_;
  int real_measures_, measures_;
  std::vector<double> capacity_;
  std::vector<int> first_choice_;  // choice of each job
  std::vector<int> job_;           // of each choice
  std::vector<double> time_, need_, heads_, tails_;
  std::vector<JobSet> predecessors_, successors_, identical_before_;
};

}  // namespace cosched::moldable::search
