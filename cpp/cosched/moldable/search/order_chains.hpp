// Annealings over orders, several at a time.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::search {

/// The shortest of generations of independent annealings (orders.hpp): hot, where what they start from is forgotten,
/// then warm, from the best so far; `operations` of OrderSearch in all.  Each has a seed of its own from `rng`, and
/// threads take one after another: the result does not depend on how many there are.  When a time limit passes it
/// returns the shortest until then; the next check_interrupt() throws.
///
/// Requires what OrderSearch requires.
Placement anneal_orders(const Instance& instance, const list::Decoder& decoder,
                        const Placement& from, double operations, Rng& rng);

}  // namespace cosched::moldable::search
