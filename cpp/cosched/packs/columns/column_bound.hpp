// The lower bound of column generation on the cost of every co-schedule, for any table.
#pragma once

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

// Groups of alike tasks, for relaxations too large to price every task on its own.
//
// Inside a group the price of a task is interpolated between two: u_i = (1 - z_i) A_g + z_i B_g,
// where z_i in [0, 1] is the task's place between the smallest and the largest of its group.  That
// only restricts the dual, and the pricing stays that of the tasks themselves, so what it proves
// holds for the instance as it is, however coarse the groups.

/// What a task's price is made of: the values of up to two rows of a master.
struct Share {
  int row;
  double weight;  // of row; of row + 1 it is 1 - weight
};

struct Groups {
  int rows = 0;
  std::vector<Share> of;     // a task
  std::vector<int> typical;  // a row: a task at which it counts most
};

/// Every task on its own.
Groups singletons(int tasks);

/// Groups with at most `most` rows: all tasks, halved again and again where profiles differ most
/// for the work that they stand for.  Profiles are compared by their logarithms on 1, 2, 4, ... and
/// p processors.  Equal rows share a group and a price.  O(n log p (log n + most)).
Groups alike(const Times& times, int most);

struct LowerBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the call, a smaller value is what it has
};

/// The linear relaxation of set partitioning over all packs, by column generation; never below
/// area_bound and longest_bound.  A time limit, or the fixed work that ends the call without one,
/// gives a smaller, still valid value.
LowerBound column_bound(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::columns
