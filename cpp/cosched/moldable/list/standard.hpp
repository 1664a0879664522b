// The paper's "standard" algorithms (section 4.1).  All off-line: no release dates, no precedence.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// Every job alone on the m processors, of which it uses the best count on which it fits, by
/// decreasing w_i / t_i there.  Optimal for minsum when the speed-up is linear.  O(n log n).
Placement gang(const Instance& instance);

/// Every job on one processor (on the fewest where it cannot run, or does not fit, on one), longest
/// first (LPTF), to the processors that are idle first.  O(n log n).
Placement sequential(const Instance& instance);

}  // namespace cosched::moldable::list
