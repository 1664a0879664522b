// Which task is never slower than which other: exchanges that make a relaxation easier to solve.
#pragma once

#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

/// dominates[j][i]: task j is on no number of processors slower than task i != j; of two tasks with
/// equal times the lower number dominates.
using Dominance = std::vector<std::vector<char>>;

/// O(n^2 p) time, n^2 bytes.
Dominance compute_dominance(const Times& times);

/// The exchanges of a task i for a task j that dominates it and may be in every pack in which i may
/// be.  Leaves out pairs with a third task between them in the dominance order, because exchanges
/// compose.  Sorted by decreasing times of the source, so that an exchange comes after those whose
/// target is its source; values are 0.  O(n^3) at worst; calls check_interrupt().
std::vector<CoverExchange> list_direct_exchanges(const Times& times, const Dominance& dominates,
                                                 const Restrictions& restrictions);

}  // namespace cosched::packs::columns
