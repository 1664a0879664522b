// Packs as columns of a master programme, and the restrictions that branching puts on their
// lengths.
#pragma once

#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::packs::columns {

/// A pack with a nominal length: at least its cost with optimal numbers of processors.
struct PackColumn {
  double length = 0;
  std::vector<int> tasks;  ///< increasing
};

/// The row "at least (at most) `packs` packs have a length >= `length`".
struct CountRow {
  double length;
  int packs;
  bool at_least;  ///< false: at most
};

/// Task i must be in a pack of a length in [least_length[i], below_length[i]); empty vectors stand
/// for [0, infinity).
struct Restrictions {
  std::vector<double> least_length, below_length;
  std::vector<CountRow> counts;

  bool is_allowed(int task, double length) const {
    return least_length.empty() || (least_length[task] <= length && length < below_length[task]);
  }
};

}  // namespace cosched::packs::columns
