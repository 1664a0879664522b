// Schedules by annealing over orders of jobs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/shared/side_by_side.hpp"

namespace cosched::moldable::shared {

/// A schedule as an order of jobs, each with a count: it starts after the one before it, at an end, as soon as it fits
/// and no more than `beside` others run.  So any schedule whose jobs start at ends, or at 0, can be said, waiting
/// beside idle processors too; and a job that is moved takes with it when it waits.
///
/// What a change leaves as it was before the first place that it touches is not simulated again, nor what follows when
/// the same jobs run with as much left as before; states are kept for changes that are accepted only.
///
/// Requires an instance without releases; counts on which each job fits.
class OrderSearch {
 public:
  /// What is given must outlive it, and the instance share something.
  OrderSearch(const Instance& instance, const list::Decoder& decoder, Rng& rng);

  /// From a schedule, cooling from `hot` to `cold`, which are shares of the makespan.  O(k^2) a job from the first
  /// changed one on, for sets of k.  May end as check_interrupt(): best() stays.
  void anneal(const Placement& from, double hot, double cold, std::int64_t operations);

  /// The shortest of the last call, decoded anew; empty before any.
  Placement best() const;

 private:
  struct Decision {
    int count, beside;  // count: a place in the counts of the job
  };

  void begin(const Placement& from);
  bool propose(double temperature);
  void accept(int first, double value);
  int change();
  int change_count(int place);
  int trade_counts(int place);
  int swap_jobs(int place);
  int move_job(int place);
  int turn(int place);
  int change_beside(int place);

  int drawn_place(int place);
  int last_count(int job) const { return static_cast<int>(machine_.counts(job).size()) - 1; }
  int stepped(int job, int by) const;
  int nearest(int job, int procs) const;
  int sign() { return rng_.below(2) == 0 ? 1 : -1; }
  void decide(int job, Decision to);
  void set(int job, Decision to);
  void keep(int low, int high);
  void move(int from, int to);
  void take_back();

  double length(int first, double longest);
  bool starts(const SideBySide::State& state, int place) const;

  const Instance& instance_;
  Rng& rng_;
  int jobs_;
  SideBySide machine_;

  std::vector<int> order_, best_order_;
  std::vector<Decision> decided_, best_decided_;  // of each job
  std::vector<SideBySide::State> before_;         // each place, and after the last
  SideBySide::State state_;
  std::vector<double> start_, end_;       // of each job: for turn()
  std::vector<SideBySide::Ended> ended_;  // of a proposal
  double value_ = 0, best_value_ = 0;
  // Of a proposal, to take back.
  std::vector<std::pair<int, Decision>> changed_;
  std::vector<int> kept_;  // the order from kept_from_ on
  int kept_from_ = 0;
  int last_ = 0, same_from_ = 0;  // places: the last that is another; where all is as before
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::shared
