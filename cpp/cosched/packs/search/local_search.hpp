// A heuristic better than the paper's: simulated annealing over partitions, from the best of
// pack-by-pack and longest_first, with the 1-pack solver as incremental curves
// (pack_partition.hpp).
#pragma once

#include <functional>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

/// Default amount of fixed work: elementary operations (3 to 6 ns each) a task.
inline constexpr std::int64_t kLocalSearchWork = 5'000'000;
/// Of all tasks together by default: 260 tasks at kLocalSearchWork, 4 to 9 s.
inline constexpr std::int64_t kLocalSearchTotalWork = 260 * kLocalSearchWork;

/// The default work a task of an instance with so many tasks: at most kLocalSearchTotalWork in all.
std::int64_t default_work(int tasks);

/// Whether a search goes on after a round: with the best so far, which it may replace, and whether
/// that round found it.
using AfterRound = std::function<bool(SearchedCoschedule& best, bool has_improved, int round)>;

/// What the search starts from: the better of best_pack_by_pack and longest_first, the latter as
/// time allows.
SearchedCoschedule first_schedule(const Instance& instance);

/// Never costs more than best_pack_by_pack().
///
/// Up to twelve tasks: the optimum, by the subset programme.  Beyond, an annealing.
///
/// Moves: a task to another pack or to a new one, two tasks exchanged; an exchange is evaluated in
/// O(log p).  `work` n operations are spent in rounds, each four times as long as the one before,
/// from the best so far: of each the temperature falls geometrically.  A round that does not fit is
/// not begun; time_limit (seconds) may end one.  So more of either is never worse.  Ends at once
/// when the cost meets longest_bound or area_bound.
/// No `work` is default_work().
/// Throws InvalidInstance when work < 0, and where tasks share something: shared/heuristics.hpp.
SearchedCoschedule local_search(const Instance& instance, std::uint64_t seed,
                                std::optional<std::int64_t> work = std::nullopt,
                                std::optional<double> time_limit = std::nullopt);

/// The same from given packs, which must be feasible; never worse than they.
SearchedCoschedule local_search_from(const Instance& instance, const Packs& start,
                                     std::uint64_t seed, std::int64_t work,
                                     std::optional<double> time_limit,
                                     const AfterRound& after_round = {});

}  // namespace cosched::packs::search
