// Two lower bounds on the cost of every co-schedule, for any table.  Neither is ever above the
// optimum: each is rounded down by more than its own floating-point error.
#pragma once

#include "cosched/packs/model/instance.hpp"

namespace cosched::packs {

/// min over q of w_i(q).  O(p).
double least_work(const Times& times, int task);

/// The fewest processors on which a task takes at most `length`; p + 1 where there are none.  O(log
/// p).
int fewest_within(const Times& times, int task, double length);

// Two lower bounds on the cost of every co-schedule, for any table.  Neither is ever above the
// optimum: each is rounded down by more than its own floating-point error.

/// sum_i min_q w_i(q) / p: a pack of cost c has p c of processor time.  O(n p).
double area_bound(const Instance& instance);

/// Let s_1 >= s_2 >= ... be the least times min_q t_i(q), sorted.  Of the bk + 1 longest tasks one
/// is not in the b costliest packs, so the pack of rank b + 1 costs at least s_{bk+1}: the bound
/// is s_1 + s_{k+1} + s_{2k+1} + ...  O(n log n).
double longest_bound(const Instance& instance);

}  // namespace cosched::packs
