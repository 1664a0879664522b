// A heuristic better than the paper's: simulated annealing over partitions, from the best of
// pack-by-pack and longest_first, with the 1-pack solver as incremental curves (partition.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

/// Default amount of fixed work: elementary operations (very roughly nanoseconds) a task.
inline constexpr std::int64_t kLocalSearchWork = 5'000'000;

/// Never costs more than best_pack_by_pack().
///
/// Up to twelve tasks: the optimum, by the subset programme.  Beyond, an annealing.
///
/// Moves: a task to another pack or to a new one, two tasks exchanged; an exchange is evaluated in
/// O(log p).  The temperature falls geometrically over `work` n operations.  Without time_limit
/// the result depends on the instance, the seed and `work` only; time_limit (seconds) may end the
/// search earlier, and the temperature then falls with the time, from a lower one where the limit is
/// short for so many tasks.  Ends at once when the cost
/// meets longest_bound or area_bound.
/// Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::int64_t work = kLocalSearchWork,
                          std::optional<double> time_limit = std::nullopt);

/// The same from given packs, which must be feasible; never worse than they.  `heat` scales the
/// first temperature: 1 = as above, less keeps closer to the start.
SearchResult local_search_from(const Instance& instance, const Packs& start, std::uint64_t seed,
                               std::int64_t work, double heat, std::optional<double> time_limit);

}  // namespace cosched::packs::search
