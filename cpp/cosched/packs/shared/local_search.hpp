// A local search over partitions of tasks that share the machine.
#pragma once

#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::shared {

/// Annealing over partitions, from the better of pack-by-pack and the local search that ignores
/// slow-downs; up to 16 tasks subsets().  A pack that does not fit costs as much as its tasks one
/// after the other, so that moves can lead through it.  The rounds are those of
/// search::local_search(): more work or time is never worse, and the result is never worse than
/// that of the search which ignores slow-downs with as much work.  `work`: operations a task,
/// default search::default_work().  The result depends on instance, seed and work only, unless a
/// time limit ends the call.  Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::optional<std::int64_t> work, std::optional<double> time_limit,
                          const search::AfterRound& after_round = {});

}  // namespace cosched::packs::shared
