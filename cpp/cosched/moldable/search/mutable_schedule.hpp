// A moldable schedule under change: allotment, starts, and what is free over time.
#pragma once

#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/free_profile.hpp"

namespace cosched::moldable::search {

struct PlateauParams {
  /// What counts beside the makespan, so that moves on a plateau of the makespan lead somewhere: a
  /// part of the mean load, and a part of the mean time that processors work after the target.
  double area_part = 0.05, lateness_part = 0.5;
};

/// A schedule of jobs that share nothing and wait for nobody, with the profile of what it leaves
/// free: jobs can be taken out and put back.
class MutableSchedule {
 public:
  /// `instance` must outlive it.  Ends after `target` count in value(), for the makespan.
  MutableSchedule(const Instance& instance, Objective objective, double target = 0,
                  const PlateauParams& params = {});

  /// Replaces the schedule.  O(n breakpoints).
  void load(const Placement& placement);

  /// Puts each job in `order`, on these counts, at its earliest fit after its release.
  /// O(n breakpoints).
  void decode(const std::vector<int>& order, Allotment procs);

  /// Decodes the present order of starts on the present counts, which closes gaps.
  void compact() { decode(order_by_start(), placement_.procs); }

  void remove_job(int job);
  /// Puts a job that was removed at its earliest fit on so many processors.
  void insert_job(int job, int procs);
  /// Puts a job that was removed back to the count and the start that it had.
  void restore_job(int job, int procs, double start);
  /// The end that insert_job() would give the job.
  double earliest_end(int job, int procs);

  /// The value that searches minimise: the minsum, or the makespan with its plateau terms
  /// (PlateauParams).
  double value() const;
  Criteria evaluate_criteria() const { return moldable::evaluate_criteria(instance_, placement_); }
  const Placement& placement() const { return placement_; }
  std::vector<int> order_by_start() const { return moldable::order_by_start(placement_); }
  std::int64_t operations() const { return operations_ + profile_.operations(); }

 private:
  const Instance& instance_;
  Objective objective_;
  double target_;
  PlateauParams params_;
  Placement placement_;
  FreeProfile profile_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
