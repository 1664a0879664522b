// From a solution of the covering master to a fractional partition.
#pragma once

#include <vector>

#include "cosched/packs/pricing.hpp"

namespace cosched::packs {

/// A pack with its value in a fractional solution.
struct FractionalPack {
  Column pack;
  double value;
};

/// `value` of the cover of `task` serves as cover of `for_task`, which is nowhere slower.
struct Exchange {
  int for_task, task;
  double value;
};

/// Puts for_task in the place of task in packs of total value `value`, for each exchange in turn.
/// Requires that an exchange comes after those that feed its `task`.
std::vector<FractionalPack> carry_out(std::vector<FractionalPack> packs,
                                      const std::vector<Exchange>& exchanges);

/// Drops tasks that are covered more than once, from the longest packs first, so that every task
/// is covered with a total of 1.  Packs stay feasible at their nominal lengths.
std::vector<FractionalPack> cover_once(std::vector<FractionalPack> packs, int tasks);

}  // namespace cosched::packs
