// What the paper's heuristics are measured against (section 5): one task a pack, and packs or
// processors at random.  Equal costs keep the first candidate.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// One task a pack, each alone on the p processors, of which it uses the best count: cost
/// sum_i t_i(p), the base of relative_cost.  Optimal for k = 1.  O(n).
Coschedule sequential(const Instance& instance);

/// Best of `draws` random partitions: while tasks remain, a size uniform in
/// [1, min(k, tasks left)], then that many tasks at random, or those before the first that no
/// longer fits; 1-pack on each pack.  The first draws of a longer call are those of a shorter one.
/// Throws InvalidInstance when draws < 1.
/// O(draws (n + P p log k)).
Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed);

/// Best of `draws`: every sigma_i uniform in [fewest, p], Make-pack, 1-pack on each pack.
/// O(draws (n log n + P p log k)).
Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed);

/// The partitions among which the two choose.
std::vector<Packs> random_packs(const Instance& instance, int draws, std::uint64_t seed);
std::vector<Packs> random_proc_packs(const Instance& instance, int draws, std::uint64_t seed);

}  // namespace cosched::packs::heuristic
