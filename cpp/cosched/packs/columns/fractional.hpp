// From a solution of the covering master to a fractional partition: packs with fractional values
// that cover each task with a total of 1.
#pragma once

#include "cosched/packs/columns/restrictions.hpp"

namespace cosched::packs::columns {

/// Fractional values up to this one are rounding errors.
inline constexpr double kNegligibleValue = 1e-9;

/// A pack with its value in a fractional solution.
struct FractionalPack {
  PackColumn pack;
  double value;
};

/// An exchange column of the master at a value: so much of the cover of `source_task` serves as
/// cover of `target_task`, which is nowhere slower and so can take its place in packs.
struct CoverExchange {
  int target_task, source_task;
  double value;
};

/// Composes chains of exchanges (a to b, b to c) into direct ones (a to c), from tasks that are
/// covered more than once to tasks that are covered less than once.  `cover` is the total cover of
/// each task before the exchanges.  Requires that an exchange comes after all exchanges whose
/// target is its source.
std::vector<CoverExchange> compose_exchanges(const std::vector<CoverExchange>& exchanges,
                                             const std::vector<double>& cover);

/// Carries out composed exchanges: puts the target in the place of the source in packs of total
/// value `value`, for each exchange in turn.  There are enough packs that hold the source and not
/// the target: their value is at least cover of source - cover of target >= 2 value.  This may not
/// hold for the single exchanges of a chain, which is why they are composed first.
std::vector<FractionalPack> apply_exchanges(std::vector<FractionalPack> packs,
                                            const std::vector<CoverExchange>& exchanges);

/// Total value of the packs that hold each task.
std::vector<double> total_cover(const std::vector<FractionalPack>& packs, int tasks);

/// Removes tasks that are covered with more than 1 from packs, the longest first, until every task
/// is covered with a total of 1.  Packs stay feasible at their nominal lengths.
std::vector<FractionalPack> cover_once(std::vector<FractionalPack> packs, int tasks);

}  // namespace cosched::packs::columns
