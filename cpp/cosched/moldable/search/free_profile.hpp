// Free processors and resources over time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosched::moldable::search {

/// What a job takes while it runs.
struct JobNeed {
  int procs = 1;
  const double* shares = nullptr;  // of the capacity of each resource of the profile
};

/// Processors and resources that are free over time, as a sorted list of breakpoints; at first all
/// of them from time 0 to infinity.  Times are compared exactly: a job that occupied [start, end)
/// is released with the same two numbers.
class FreeProfile {
 public:
  explicit FreeProfile(int machines, int resources = 0)
      : machines_(machines), resources_(resources) {
    clear();
  }

  void clear();

  /// The earliest time >= from at which the job can start and run for `length`.  Requires a job
  /// that fits on the idle machine.  O(breakpoints).
  double earliest_start(const JobNeed& need, double length, double from);

  /// Takes what a job needs in [start, end).  O(breakpoints).
  void occupy(double start, double end, const JobNeed& need) { change_usage(start, end, need, -1); }
  /// Gives it back.  O(breakpoints).
  void release(double start, double end, const JobNeed& need) { change_usage(start, end, need, 1); }

  /// Clears the profile and puts each job of `order` at its earliest fit.  earliest_of(job) is the
  /// time from which it may start, need_of(job) the pair of its JobNeed and length;
  /// start_at(job, start) is called before the next job is asked for.
  template <class EarliestOf, class NeedOf, class StartAt>
  void place_in_order(const std::vector<int>& order, EarliestOf earliest_of, NeedOf need_of,
                      StartAt start_at) {
    clear();
    for (const int job : order) {
      const auto [need, length] = need_of(job);
      const double start = earliest_start(need, length, earliest_of(job));
      occupy(start, start + length, need);
      start_at(job, start);
    }
  }

  /// Breakpoints looked at so far, the measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  std::size_t insert_breakpoint(double time);
  void change_usage(double start, double end, const JobNeed& need, int sign);
  bool has_resources_for(std::size_t k, const JobNeed& need) const;

  int machines_, resources_;
  // Free processors and shares of each resource in [times_[k], times_[k + 1]).
  std::vector<double> times_;
  std::vector<int> free_procs_;
  std::vector<double> free_shares_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
