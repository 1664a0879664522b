// A schedule as plain columns: one row for each placement.  What all families return.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched {

/// Placement r: task[r] runs on the units unit[unit_begin[r] .. unit_begin[r+1])
/// (0-based within resource type kind[r]) from start[r] to end[r] seconds.
struct Schedule {
  std::vector<int> task;
  std::vector<int> kind;
  std::vector<std::int64_t> unit_begin{0};  // rows + 1 entries
  std::vector<int> unit;
  std::vector<double> start;
  std::vector<double> end;

  std::size_t rows() const { return task.size(); }

  void place(int task_id, int kind_id, const std::vector<int>& units, double start_time,
             double end_time) {
    task.push_back(task_id);
    kind.push_back(kind_id);
    unit.insert(unit.end(), units.begin(), units.end());
    unit_begin.push_back(static_cast<std::int64_t>(unit.size()));
    start.push_back(start_time);
    end.push_back(end_time);
  }
};

/// For tasks with given starts, ends and numbers of identical units: assigns unit
/// numbers, in order of start, lowest free numbers first.  Ends before or at a start free
/// their units; ends after it by no more than kValidateTolerance only where a start would
/// lack units otherwise.  Throws InvalidSchedule where more than `units` are needed at once.
/// O(n log n + total units).
Schedule assign_units(const std::vector<double>& start, const std::vector<double>& end,
                      const std::vector<int>& count, int units);

}  // namespace cosched
