// Dynamic programme over subsets of the tasks: the optimum for few tasks.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

inline constexpr int kMaxSubsetTasks = 20;

/// An optimal co-schedule.  best(S) = min over packs c in S that hold S's lowest task of cost(c) +
/// best(S \ c).  Throws InvalidInstance where n > kMaxSubsetTasks, before it takes memory. Throws
/// TimeLimit like every caller of check_interrupt. O(3^n + 2^n p) time at worst; most packs are no
/// better than a split of theirs, and skipped. 2^n numbers of memory.
Coschedule subset_programme(const Instance& instance);

}  // namespace cosched::packs::search
