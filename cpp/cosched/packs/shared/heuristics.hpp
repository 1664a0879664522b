// Heuristics for tasks that share the machine: packs of the heuristics for tasks that do not share
// it, repaired so that they fit, at the prices of pack_price.hpp.
#pragma once

#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {

/// The most nodes that a search for a pack's price visits inside a heuristic.
inline constexpr std::int64_t kSearchNodes = 300;

/// `pack`, whose tasks are increasing, with task i as well.
std::vector<int> insert_task(std::vector<int> pack, int i);

/// Splits packs that do not fit: the tasks of each pack go, in their order, first fit into packs
/// whose needs of all resources fit.
Packs repair_packs(const Instance& instance, PackTable& table, const Packs& packs);

/// As heuristic::pack_by_pack(), with the packs repaired; the cheapest over `epsilons`.
Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice = heuristic::PackChoice::kGreedy);

/// As heuristic::random_pack() and random_proc(), with the same partitions for a seed, repaired.
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed);
Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed);

}  // namespace cosched::packs::shared
