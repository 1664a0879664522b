// Branching decisions of branch and price: sums that a fractional partition leaves fractional, as
// restrictions that cost the pricing nothing.
#pragma once

#include <optional>
#include <vector>

#include "cosched/packs/columns/fractional.hpp"

namespace cosched::packs::exact {

/// The children of a node: each gets one of these sets of restrictions; together they lose no
/// co-schedule.
using Alternatives = std::vector<columns::Restrictions>;

/// The branching on the most fractional sum: the number of packs of length >= D, or the part of a
/// task in packs of length >= D.  None where all such sums are integral up to a tolerance.
std::optional<Alternatives> most_fractional_branching(
    const columns::Restrictions& restrictions, const std::vector<columns::FractionalPack>& packs);

/// A length of a fractional partition in which every such sum is integral, with its number of packs
/// and its tasks.
struct LengthLevel {
  double length;
  int packs;
  std::vector<int> tasks;
};

/// The levels of such a partition, by decreasing lengths.
std::vector<LengthLevel> length_levels(const std::vector<columns::FractionalPack>& packs,
                                       int tasks);

/// A branching that pins a task of `level` to exactly its length, or the number of packs of that
/// length; none where all of these are pinned.
std::optional<Alternatives> pinning_branching(const columns::Restrictions& restrictions,
                                              const std::vector<LengthLevel>& all_levels,
                                              const LengthLevel& level);

}  // namespace cosched::packs::exact
