// What a moldable scheduler decides: how many processors each job gets, and when it starts.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable {

/// The number of processors of each job.
using Allotment = std::vector<int>;

/// procs[i], start[i], end[i] of job i; end = start + exact_time(i, procs).  At most m processors
/// are busy at any time, so processor numbers can always be given (to_schedule).
struct Placement {
  Allotment procs;
  std::vector<double> start, end;

  int jobs() const { return static_cast<int>(procs.size()); }
};

/// An empty placement of n jobs.
Placement empty_placement(int jobs);

/// Starts job i at `from` on as many of q processors as it uses: used_procs(i, q).
inline void place(const Instance& instance, Placement& into, int i, int q, double from) {
  into.procs[i] = instance.used_procs(i, q);
  into.start[i] = from;
  into.end[i] = from + instance.time(i, q);
}

/// Moves the entry at place `from` of an order to place `to`; those between shift by one place.
inline void move_entry(std::vector<int>& order, int from, int to) {
  const auto at = order.begin();
  if (to < from)
    std::rotate(at + to, at + from, at + from + 1);
  else
    std::rotate(at + from, at + from + 1, at + to + 1);
}

/// The jobs by their starts; ties to the lowest.
std::vector<int> order_by_start(const Placement& placement);

/// max_i C_i.
double makespan(const Placement& placement);

/// sum_i w_i C_i.
double weighted_completion(const Instance& instance, const Placement& placement);

/// Both criteria.
struct Criteria {
  double makespan = 0, minsum = 0;
};
Criteria evaluate_criteria(const Instance& instance, const Placement& placement);

enum class Objective { makespan, minsum };

/// Processor numbers, lowest free first.  O(n log n + total processors x log m).  Throws
/// InvalidSchedule where more than m would be busy, InvalidInstance where the jobs together hold
/// more than 2^25 processors: too many numbers to write down.
Schedule to_schedule(const Instance& instance, const Placement& placement);

}  // namespace cosched::moldable
