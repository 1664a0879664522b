// Heuristics for tasks that share the machine: packs made as if they did not, made to fit, and
// priced.
#pragma once

#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

/// Each pack's tasks, in their order, first fit into packs that fit with the needs of all
/// resources.
Packs repaired(const Instance& instance, PackTable& table, const Packs& packs);

/// As heuristic::pack_by_pack, the best of `epsilons` by what the repaired packs cost.
Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice = heuristic::PackChoice::kGreedy);

/// As heuristic::random_pack and random_proc: the same partitions for a seed, repaired.
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed);
Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed);

/// Annealing over partitions from the best of pack-by-pack and of what the search for tasks that
/// slow nobody finds; up to 16 tasks the programme over subsets.  A pack that does not fit is
/// priced as its tasks one after the other, so that moves lead through it.  Rounds as in
/// search::local_search: more work or time is never worse, nor is it worse than that search with as
/// much work.  The result depends on instance, seed and work only, but for a time limit.  No `work`
/// is search::default_work().  Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::optional<std::int64_t> work, std::optional<double> time_limit,
                          const search::AfterRound& after_round = {});

// The optimum of few tasks that share the machine: a programme over their subsets.

inline constexpr int kMostSubsetTasks = 16;

/// best(S) = min over packs c in S that hold S's lowest task of c's price + best(S \ c).  A set is
/// priced only where its lower bound is below the best of its partitions.  Requires n <=
/// kMostSubsetTasks.  Where a price is not proved (more than some five tasks a pack on many
/// processors), the bound is that of the lower bounds.  `fallback` is what a time limit leaves.
ExactResult subsets(const Instance& instance, ExactResult fallback);

}  // namespace cosched::packs::shared
