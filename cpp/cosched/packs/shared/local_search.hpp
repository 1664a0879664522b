// A local search over partitions of tasks that share the machine.
#pragma once

#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::shared {

struct SharedLocalSearchParams {
  /// Temperatures at first and at last, relative to the mean cost of the packs of the start.
  double first_temperature = 0.03, last_temperature = 0.0002;
  /// Every other round begins at this part of the first temperature.
  double cool_round = 0.3;
  /// Operations of the price of a pack, about, and of a move besides.
  std::int64_t evaluation_work = 60, move_work = 40;
  /// Moves at one temperature.
  int moves_per_temperature = 32;
  /// One move in so many puts a task into a pack of its own.
  int new_pack_every = 32;
  /// Prices of packs that are remembered.
  std::size_t max_table_entries = 2'000'000;
};

/// Annealing over partitions, from the better of pack-by-pack and the local search that ignores
/// slow-downs; up to 16 tasks subsets().  A pack that does not fit costs as much as its tasks one
/// after the other, so that moves can lead through it.  The rounds are those of
/// search::local_search(): more work or time is never worse, and the result is never worse than
/// that of the search which ignores slow-downs with as much work.  `work`: operations a task,
/// default search::default_work().  The result depends on instance, seed and work only, unless a
/// time limit ends the call.  Throws InvalidInstance when work < 0.
SearchedCoschedule local_search(const Instance& instance, std::uint64_t seed,
                                std::optional<std::int64_t> work, std::optional<double> time_limit,
                                const search::AfterRound& after_round = {},
                                const SharedLocalSearchParams& params = {});

}  // namespace cosched::packs::shared
