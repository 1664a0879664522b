// Searches side by side in threads, each from the same schedule with a seed of its own.
#pragma once

#include <functional>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

/// Called with a schedule that is better than those before it.
using Offer = std::function<void(Placement)>;

/// Runs chain(k, offer_of_chain) for k = 0, ..., chains - 1 in threads.  Each chain calls
/// `offer_of_chain` with better and better schedules; the last one of each chain then goes to
/// `offer` in the order of k, so that the number of threads changes nothing.
///
/// Where a chain throws, the schedules of all chains are offered before the exception is rethrown.
void run_chains(int chains, const std::function<void(int, const Offer&)>& chain,
                const Offer& offer);

}  // namespace cosched::moldable::search
