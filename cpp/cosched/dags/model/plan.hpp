// A schedule of the dags family: one unit a task.
#pragma once

#include <vector>

#include "cosched/core/schedule.hpp"

namespace cosched::dags {

/// Task j runs on unit[j] (numbered from 0 within its type) of type kind[j], from
/// start[j] to end[j].
struct Plan {
  std::vector<int> kind, unit;
  std::vector<double> start, end;

  explicit Plan(int tasks = 0) : kind(tasks, -1), unit(tasks, -1), start(tasks, 0), end(tasks, 0) {}

  int tasks() const { return static_cast<int>(kind.size()); }

  void set(int task, int type, int unit_of_type, double from, double to) {
    kind[task] = type;
    unit[task] = unit_of_type;
    start[task] = from;
    end[task] = to;
  }

  double makespan() const;
  Schedule schedule() const;  // one row a task, in task order
};

}  // namespace cosched::dags
