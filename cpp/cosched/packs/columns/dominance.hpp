// Which task is never slower than which other: exchanges that make a relaxation easier to solve.
#pragma once

#include <vector>

#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/columns/pricing.hpp"

namespace cosched::packs::columns {

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
