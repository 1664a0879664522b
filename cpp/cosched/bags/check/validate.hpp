// The independent validator of compressed schedules: it shares no code with the algorithms.
#pragma once

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::check {

/// Row r: count[r] tasks of type task_type[r], one after the other, on machine machine[r] of type
/// machine_type[r] from start[r] to end[r] seconds.
struct ScheduleRows {
  std::vector<std::int64_t> task_type, machine_type, machine, count;
  std::vector<double> start, end;
};

/// Checks, in this order: columns of equal length; numbers in range; closed pairs; finite times,
/// start >= 0; end - start = count ETC; each task type's counts; no two rows of a machine at once;
/// the power cap over the makespan.  Comparisons allow kValidateTolerance, relative.
/// Throws InvalidSchedule that names the first breach.  O(r log r).
void validate(const Instance& instance, const ScheduleRows& rows);

}  // namespace cosched::bags::check
