// A heuristic better than the paper's: simulated annealing over partitions, from the best of
// pack-by-pack and longest_first, with the 1-pack solver as incremental curves (partition.hpp).
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

/// Default amount of fixed work: elementary operations (very roughly nanoseconds) a task.
inline constexpr std::int64_t kLocalSearchWork = 5'000'000;

/// Never costs more than best_pack_by_pack().
///
/// Up to twelve tasks: the optimum, by the subset programme.  Beyond, an annealing.
///
/// Moves: a task to another pack or to a new one, two tasks exchanged; an exchange is evaluated in
/// O(log p).  `work` n operations are spent in rounds, each four times as long as the one before,
/// from the best so far: of each the temperature falls geometrically.  A round that does not fit is
/// not begun; time_limit (seconds) may end one.  So more of either is never worse.  Ends at once
/// when the cost meets longest_bound or area_bound.
/// Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::int64_t work = kLocalSearchWork,
                          std::optional<double> time_limit = std::nullopt);

/// The same from given packs, which must be feasible; never worse than they.
SearchResult local_search_from(const Instance& instance, const Packs& start, std::uint64_t seed,
                               std::int64_t work, std::optional<double> time_limit);

// Dynamic programme over subsets of the tasks: the optimum for few tasks.

inline constexpr int kMostSubsetTasks = 20;

/// An optimal co-schedule.  best(S) = min over packs c in S that hold S's lowest task of
/// cost(c) + best(S \ c).  Requires n <= kMostSubsetTasks, unchecked.
/// Throws TimeLimit like every caller of check_interrupt.
/// O(3^n + 2^n p) time at worst; most packs are no better than a split of theirs, and skipped.
/// 2^n numbers of memory.
Coschedule subset_programme(const Instance& instance);

}  // namespace cosched::packs::search
