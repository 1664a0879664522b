// The optimum by whichever exact method fits the size.
#pragma once

#include <optional>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::exact {

/// The optimum for any k.
///
/// Up to 16 tasks by the dynamic programme over subsets; beyond, branch and price from a short
/// local search (and again the subset programme where it leaves up to 20 tasks open).  When the
/// time limit (seconds) ends it first, the result is the best co-schedule so far, at worst that of
/// pack-by-pack, with the bound so far, and `proved` only if the two meet.  Without a limit it
/// runs until it has the proof, except beyond 1,200 tasks: there it ends with column_bound(), and a
/// limit's rest goes to the local search.
ExactResult optimal(const Instance& instance, std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs::exact
