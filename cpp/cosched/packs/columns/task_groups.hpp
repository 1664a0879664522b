// Groups of alike tasks, for relaxations too large to price every task on its own.
//
// Inside a group the price of a task is interpolated between two: u_i = (1 - z_i) A_g + z_i B_g,
// where z_i in [0, 1] is the task's place between the smallest and the largest of its group.  This
// only restricts the dual of the relaxation, and pricing still treats single tasks.  So its bound
// is valid for the instance as it is, however coarse the groups are.
#pragma once

#include <vector>

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

/// The price of a task as an interpolation between two neighbouring rows of the master:
/// weight price(row) + (1 - weight) price(row + 1).
struct RowInterpolation {
  int row;
  double weight;  ///< in [0, 1]; 1: the price is that of `row` alone
};

/// Groups of tasks, of which each has one row of the master, or two for its smallest and its
/// largest task.
struct TaskGroups {
  int rows = 0;                                         ///< of all groups together
  std::vector<RowInterpolation> interpolation_of_task;  ///< of each task
  std::vector<int> typical_tasks;                       ///< of each row: the task with most weight
};

struct TaskGroupParams {
  /// Counts on which a task cannot run look like a time of so many times its longest.
  double unable_factor = 2;
  /// The share of a task's least time in its weight, besides its part of the processors.
  double length_share = 0.125;
  /// What the width of a group in size counts, compared with its width at single counts.
  double size_width_factor = 0.1;
};

/// One group and one row for each task.
TaskGroups singleton_groups(int tasks);

/// Groups of tasks with similar time profiles, with at most `max_rows` rows in all.  Starts from
/// one group of all tasks, and halves again and again the group of the greatest error: the width of
/// its profiles times the weight of its tasks in a bound.  Profiles are compared by the logarithms
/// of the times on 1, 2, 4, ... and p processors.  Tasks with equal times share a group and a
/// price. O(n log p (log n + max_rows)).
TaskGroups group_alike_tasks(const Times& times, int max_rows, const TaskGroupParams& params = {});

}  // namespace cosched::packs::columns
