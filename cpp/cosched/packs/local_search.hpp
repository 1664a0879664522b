// A heuristic better than the paper's: local search from the best pack-by-pack.
#pragma once

#include <cstdint>
#include <optional>

#include "cosched/packs/coschedule.hpp"

namespace cosched::packs {

/// Default amount of fixed work, in evaluated moves.
inline constexpr std::int64_t kLocalSearchWork = 20'000'000;

/// Never costs more than pack-by-pack over nine_epsilons().  Requires property (1).
/// The result depends on the instance, the seed and `work` only; `time_limit` (seconds) replaces
/// `work` as the end of the search and makes it depend on the machine.
/// Throws InvalidInstance when work < 0.
Coschedule local_search(const Instance& instance, std::uint64_t seed,
                        std::int64_t work = kLocalSearchWork,
                        std::optional<double> time_limit = std::nullopt);

}  // namespace cosched::packs
