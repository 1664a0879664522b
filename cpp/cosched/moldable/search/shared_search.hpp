// local-search for jobs that share the machine.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/search/local_search.hpp"

namespace cosched::moldable::search {

/// For the makespan without releases beams (beam.hpp) at the prices of configuration_bound, and
/// near them, and annealings over orders with counts and waits (orders.hpp), several at a time in
/// threads.  Else annealing over lists: orders, counts and the threshold of bans
/// (decoder.hpp), from greedy schedules at those prices.  Besides, the family's lists under every
/// threshold, gang, the caller's starts, and what the search finds for jobs that slow nobody,
/// replayed after each round: never worse than any.  The result depends on instance, starts, seed
/// and work only, but for a time limit.
SearchResult shared_search(const Instance& instance, const SearchOptions& options);

// Annealings over orders, several at a time.

/// The shortest of generations of independent annealings (orders.hpp): hot, where what they start
/// from is forgotten, then warm, from the best so far; `operations` of OrderSearch in all.  Each
/// has a seed of its own from `rng`, and threads take one after another: the result does not depend
/// on how many there are.  When a time limit passes it returns the shortest until then; the next
/// check_interrupt() throws.
///
/// Requires what OrderSearch requires.
Placement anneal_order_chains(const Instance& instance, const list::Decoder& decoder,
                              const Placement& from, double operations, Rng& rng);

}  // namespace cosched::moldable::search
