// Searches side by side, each from the same schedule with a seed of its own.
#pragma once

#include <functional>

#include "cosched/moldable/search/annealing.hpp"

namespace cosched::moldable::search {

/// chain(k, own) for k = 0, ..., chains - 1 in threads: each calls `own` with better and better schedules.  The last of
/// each goes to `offer` in the order of k, so that how many threads there are changes nothing; also those of chains that
/// an exception ended, which is thrown thereafter.
void in_chains(int chains, const std::function<void(int, const Offer&)>& chain, const Offer& offer);

}  // namespace cosched::moldable::search
