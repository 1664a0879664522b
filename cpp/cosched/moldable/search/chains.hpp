// Searches side by side, each from the same schedule with a seed of its own.
#pragma once

#include <functional>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/annealing.hpp"

namespace cosched::moldable::search {

/// chain(k, own) for k = 0, ..., chains - 1 in threads: each calls `own` with better and better
/// schedules.  The last of each goes to `offer` in the order of k, so that how many threads there
/// are changes nothing; also those of chains that an exception ended, which is thrown thereafter.
void in_chains(int chains, const std::function<void(int, const Offer&)>& chain, const Offer& offer);

// Annealings over orders, several at a time.

/// The shortest of generations of independent annealings (orders.hpp): hot, where what they start
/// from is forgotten, then warm, from the best so far; `operations` of OrderSearch in all.  Each
/// has a seed of its own from `rng`, and threads take one after another: the result does not depend
/// on how many there are.  When a time limit passes it returns the shortest until then; the next
/// check_interrupt() throws.
///
/// Requires what OrderSearch requires.
Placement anneal_orders(const Instance& instance, const list::Decoder& decoder,
                        const Placement& from, double operations, Rng& rng);

}  // namespace cosched::moldable::search
