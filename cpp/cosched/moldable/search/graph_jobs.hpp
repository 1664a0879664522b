// Few jobs with precedence and resources, as flat tables for proofs.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/search/patterns.hpp"

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
  /// Requires at most 30 jobs, which are bits of a set.  `instance` must outlive it.
  explicit GraphJobs(const Instance& instance)
      : instance_(instance),
        choices_(instance, graph::Counts::all),
        graph_(instance),
        real_measures_(choices_.measures()),
        measures_(real_measures_),
        capacity_(measures_, 1.0) {
    capacity_[0] = instance.machines();
    std::vector<double> least_times;
    for (int job = 0; job < jobs(); ++job) {
      first_choice_.push_back(static_cast<int>(time_.size()));
      for (const graph::JobChoice& choice : choices_[job]) {
        job_.push_back(job);
        time_.push_back(choice.time);
        need_.push_back(choice.procs);
        need_.insert(need_.end(), choice.share.begin() + 1, choice.share.end());
      }
      least_times.push_back(choices_[job][choices_.fastest_choice(job)].time);
    }
    first_choice_.push_back(static_cast<int>(time_.size()));
    heads_ = graph::heads(*graph_, least_times, instance.releases());
    tails_ = graph::bottom_levels(*graph_, least_times);
    for (int job = 0; job < jobs(); ++job) tails_[job] -= least_times[job];
    find_neighbours();
    find_identical_jobs();
  }

  /// A mix of all real measures: `prices` of each, relative to its capacity, which sum to 1.
  void add_mix(std::vector<double> prices) {
    drop_rounding_errors(prices);
    add_measure([&](int choice) {
      double mix = 0;
      for (int measure = 0; measure < real_measures_; ++measure)
        mix += prices[measure] * need(choice)[measure] / capacity_[measure];
      return mix;
    });
  }

  /// What a choice earns a second where a whole job earns its price: `prices` of jobs at which
  /// nothing that fits side by side earns more than 1 a second.
  void add_earnings(std::vector<double> prices) {
    drop_rounding_errors(prices);
    add_measure([&](int choice) { return prices[job_[choice]] / time_[choice]; });
  }

  const Instance& instance() const { return instance_; }
  int jobs() const { return instance_.jobs(); }
  JobSet all_jobs() const { return (JobSet{1} << jobs()) - 1; }
  bool has_edges() const { return instance_.graph() != nullptr; }

  /// Real ones first, then those that were added.
  int measures() const { return measures_; }
  int real_measures() const { return real_measures_; }
  /// What the idle machine has of a measure: processors, or 1.
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
  /// Predecessors first.
  const std::vector<int>& topological_order() const { return graph_->order(); }
  const std::vector<double>& heads() const { return heads_; }
  double tail(int job) const { return tails_[job]; }

  /// Whether `free` amounts of all real measures suffice for a choice.
  bool has_room_for(int choice, const double* free) const {
    const double* const own_need = need(choice);
    if (own_need[0] > free[0]) return false;
    for (int measure = 1; measure < real_measures_; ++measure)
      if (own_need[measure] > free[measure] + kExactTolerance) return false;
    return true;
  }

 private:
  // A price near 0 makes needs that are smaller than the rounding errors of what is free.
  static void drop_rounding_errors(std::vector<double>& prices) {
    const double least = kLeastPrice * *std::max_element(prices.begin(), prices.end());
    for (double& price : prices)
      if (price < least) price = 0;
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

  void find_neighbours() {
    predecessors_.assign(jobs(), 0);
    successors_.assign(jobs(), 0);
    for (int job = 0; job < jobs(); ++job)
      for (const int successor : graph_->successors(job)) {
        predecessors_[successor] |= JobSet{1} << job;
        successors_[job] |= JobSet{1} << successor;
      }
  }

  void find_identical_jobs() {
    identical_before_.assign(jobs(), 0);
    for (int job = 0; job < jobs(); ++job)
      for (int other = 0; other < job; ++other)
        if (are_alike(job, other)) identical_before_[job] |= JobSet{1} << other;
  }

  bool are_alike(int job, int other) const {
    if (instance_.weight(job) != instance_.weight(other) ||
        instance_.release(job) != instance_.release(other) ||
        predecessors_[job] != predecessors_[other] || successors_[job] != successors_[other])
      return false;
    const auto same_choice = [](const graph::JobChoice& a, const graph::JobChoice& b) {
      return a.procs == b.procs && a.time == b.time && a.share == b.share;
    };
    return std::equal(choices_[job].begin(), choices_[job].end(), choices_[other].begin(),
                      choices_[other].end(), same_choice);
  }

  static constexpr double kLeastPrice = 1e-6;  // of the greatest

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
