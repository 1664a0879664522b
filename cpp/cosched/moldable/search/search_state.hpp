// A moldable schedule under change: allotment, starts, and the profile of free processors.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

/// What an item takes while it runs.  Resources as shares of their capacities, one after the other.
struct JobNeed {
  int procs = 1;
  const double* shares = nullptr;  // of a profile's resources
};

/// Processors and resources that are free over time, as a sorted list of breakpoints: all from time
/// 0 to infinity at first.  Moments are compared exactly: an item that was put from `start` to
/// `end` is taken out with the same two numbers.
class FreeProfile {
 public:
  explicit FreeProfile(int machines, int resources = 0)
      : machines_(machines), resources_(resources) {
    clear();
  }

  void clear();

  /// The earliest start >= from of an item that fits on the idle machine.  O(breakpoints).
  double earliest_start(const JobNeed& need, double length, double from);

  /// Takes, or gives back, what an item needs in [start, end).  O(breakpoints).
  void occupy(double start, double end, const JobNeed& need) { change_usage(start, end, need, -1); }
  void release(double start, double end, const JobNeed& need) { change_usage(start, end, need, 1); }

  /// Each job of `order` at its earliest fit.  earliest_of(job) is when it may start, item_of(job)
  /// its need and length, start_at(job, start) notes it, before the next is asked for.
  template <class EarliestOf, class ItemOf, class StartAt>
  void place_in_order(const std::vector<int>& order, EarliestOf earliest_of, ItemOf item_of,
                      StartAt start_at) {
    clear();
    for (const int job : order) {
      const auto [need, length] = item_of(job);
      const double start = earliest_start(need, length, earliest_of(job));
      occupy(start, start + length, need);
      start_at(job, start);
    }
  }

  /// Breakpoints looked at so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  std::size_t insert_breakpoint(double at);
  void change_usage(double start, double end, const JobNeed& need, int sign);
  bool has_resources_for(std::size_t k, const JobNeed& need) const;

  int machines_, resources_;
  std::vector<double> times_;  // free_[k] processors in [time_[k], time_[k + 1])
  std::vector<int> free_procs_;
  std::vector<double> free_shares_;  // in the same time, of each resource
  std::int64_t operations_ = 0;
};

/// Counts worth trying: those with a shorter time than all smaller ones; beyond 16 processors some
/// ten percent apart where there are more than 64.
std::vector<std::vector<int>> useful_counts(const Instance& instance);

class MutableSchedule {
 public:
  /// `instance` must outlive it.
  MutableSchedule(const Instance& instance, Objective objective, double target = 0);

  /// Takes over a schedule as it stands.
  void load(const Placement& placement);

  /// Each job in `order` with these counts at its earliest fit after its release.
  void decode(const std::vector<int>& order, Allotment procs);

  /// The same with the present counts and order of starts: closes gaps.
  void compact() { decode(order_by_start(), placement_.procs); }

  void remove_job(int job);
  /// Puts a job that was removed back: at its earliest fit on q processors.
  void insert_job(int job, int procs);
  /// The same where it was: on the count and at the start of before its removal.
  void restore_job(int job, int procs, double start);
  /// The end it would have there.
  double earliest_end(int job, int procs);

  /// The criterion; for the makespan also a little of the area, and of what ends after `target`, so
  /// that plateaus lead somewhere.
  double value() const;
  Criteria evaluate_criteria() const { return moldable::evaluate_criteria(*instance_, placement_); }
  const Placement& placement() const { return placement_; }
  std::vector<int> order_by_start() const { return moldable::order_by_start(placement_); }
  std::int64_t operations() const { return operations_ + profile_.operations(); }

 private:
  const Instance* instance_;
  Objective objective_;
  double target_;
  Placement placement_;
  FreeProfile profile_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
