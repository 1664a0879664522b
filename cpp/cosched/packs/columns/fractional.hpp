// From a solution of the covering master to a fractional partition.
#pragma once

#include "cosched/packs/columns/pricing.hpp"

namespace cosched::packs::columns {

/// A fractional value up to this is rounding.
inline constexpr double kNegligible = 1e-9;

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

/// The same exchanges from end to end: from tasks that are covered more than once to tasks that
/// are covered less than once, without those in between.  `cover` is each task's total before.
/// Requires that an exchange comes after those that feed its `task`.
std::vector<Exchange> end_to_end(const std::vector<Exchange>& exchanges,
                                 const std::vector<double>& cover);

/// Puts for_task in the place of task in packs of total value `value`, for each exchange in turn.
/// End to end, there always are enough packs with `task` and without `for_task`: at least
/// cover of task - cover of for_task >= 2 value.  Between neighbours of a chain there may not be.
std::vector<FractionalPack> carry_out(std::vector<FractionalPack> packs,
                                      const std::vector<Exchange>& exchanges);

/// How much of each task the packs hold.
std::vector<double> cover(const std::vector<FractionalPack>& packs, int tasks);

/// Drops tasks that are covered more than once, from the longest packs first, so that every task
/// is covered with a total of 1.  Packs stay feasible at their nominal lengths.
std::vector<FractionalPack> cover_once(std::vector<FractionalPack> packs, int tasks);

// Which task is never slower than which other: exchanges that make a relaxation easier to solve.

/// dominates[j][i]: t_j(q) <= t_i(q) for all q, i != j, ties (equal rows) by number.
using Dominance = std::vector<std::vector<char>>;

/// O(n^2 p) time, n^2 bytes.
Dominance dominance(const Times& times);

/// Exchanges of j for i where j dominates i and may be in every pack that i may be in; only pairs
/// with no third task between them, the others follow.  Slower tasks first, so that an exchange
/// follows those that feed it; values 0.  O(n^3) at worst, looks at the clock.
std::vector<Exchange> direct_exchanges(const Times& times, const Dominance& dominates,
                                       const Restrictions& restrictions);

}  // namespace cosched::packs::columns
