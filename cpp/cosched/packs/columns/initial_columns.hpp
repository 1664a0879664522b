// What a relaxation starts from: rows, packs and prices that cost next to nothing.
#pragma once

#include <vector>

#include "cosched/packs/columns/prices.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs::columns {

/// Of the (m-1) k + 1 tasks with the longest least times s_1 >= s_2 >= ..., one is not in the m-1
/// longest packs, so m packs are at least s_{(m-1)k+1} long.  At most `max_rows` such rows, evenly
/// chosen.  They make the relaxation as strong as longest_bound.
std::vector<CountRow> least_count_rows(const Instance& instance, int max_rows = 64);

/// Feasible packs to start from: all runs of pack-by-pack, and every task alone.
std::vector<PackColumn> initial_columns(const Instance& instance);

/// Prices that prove area_bound().
Prices area_prices(const Instance& instance);

}  // namespace cosched::packs::columns
