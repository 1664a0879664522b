// local-search for jobs that share the machine.
#pragma once

#include "cosched/moldable/search/local_search.hpp"

namespace cosched::moldable::search {

/// For the makespan without releases beams (beam.hpp) at the prices of configuration_bound, and
/// near them, and annealings over orders with counts and waits (orders.hpp), several at a time in
/// threads (chains.hpp).  Else annealing over lists: orders, counts and the threshold of bans
/// (decoder.hpp), from greedy schedules at those prices.  Besides, the family's lists under every
/// threshold, gang, the caller's starts, and what the search finds for jobs that slow nobody,
/// replayed after each round: never worse than any.  The result depends on instance, starts, seed
/// and work only, but for a time limit.
SearchResult shared_search(const Instance& instance, const SearchOptions& options);

}  // namespace cosched::moldable::search
